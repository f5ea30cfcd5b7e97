"""Numbers of other evaluators for the same six lists, which the right variants meet.

``data/evaluators.json`` holds outputs of LensKit, implicit, RecBole, Cornac, ranx, pytrec_eval and ir_measures in
the versions named there. User 3 has no relevant items and user 4 no list. ``users`` are values of single users,
``mean`` is the evaluator's own average.
"""

from __future__ import annotations

import json
import math
import pathlib

import numpy as np
import pytest

from repro.evaluation.metrics import (
    ListOwners,
    Predictions,
    TrainRatings,
    average,
    average_predictions,
    metrics,
    parse_measure,
    resolve_predictions,
)
from repro.plugin import FALLBACK, SCORED, Scores

DATA = json.loads((pathlib.Path(__file__).parent / "data" / "evaluators.json").read_text(encoding="utf-8"))
USERS = list(DATA["lists"])
TRUTH = [{int(item): float(rating) for item, rating in DATA["truth"][user].items()} for user in USERS]


def scores(every_item: bool) -> list[dict[int, float]]:
    """The lists as scores; with ``every_item``, all twelve items are ranked, those not listed tied below."""
    below = dict.fromkeys(range(1, 13), 0.0) if every_item else {}
    return [below | {item: 1.0 - 0.05 * place for place, item in enumerate(DATA["lists"][user])} for user in USERS]


@pytest.mark.parametrize("row", DATA["rows"], ids=lambda row: f"{row['evaluator']}-{row['measure']}")
def test_variant_gives_what_the_evaluator_gave(row, protocol, ranked, background):
    decisions = {key.replace(".", "__"): value for key, value in row.get("protocol", {}).items()}
    rules = protocol(**decisions)
    measure = parse_measure(row["measure"], rules, metrics())
    shared = rules["ties.break"] == "shared-worst"
    lists = ranked(
        scores(every_item=shared),
        TRUTH,
        ties="shared-worst" if shared else "definite",
        threshold=rules.number("relevance.threshold"),
    )
    ratio = measure.of_lists(lists, background(TRUTH, n_items=13))  # items 0 to 12; item 0 is in no list
    averaged = average(measure, ratio, ListOwners.of(lists), rules)
    values = dict(zip((USERS[user] for user in averaged.users), averaged.values, strict=True))
    for user, value in row.get("users", {}).items():
        assert values[user] == pytest.approx(value, abs=1e-9)
    if "mean" in row:
        assert averaged.value == pytest.approx(row["mean"], abs=1e-9)


# Predictions for six pairs; the prediction of 6.0 lies above the scale of 1 to 5.
PAIRS = [
    (1, 1, 3.5, 4.0),
    (1, 2, 2.5, 2.0),
    (1, 3, 6.0, 5.0),
    (2, 1, 3.0, 1.0),
    (3, 2, 3.0, 3.0),
    (3, 3, 2.0, 4.0),
]


def predictions(pairs):
    users, items, predicted, real = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    everything = np.ones(len(pairs), dtype=np.bool_)
    return Predictions(users.astype(np.int32), items.astype(np.int32), real, predicted, everything, (1.0, 5.0))


@pytest.mark.parametrize(
    ("evaluator", "over", "clip", "rmse", "mae"),
    [
        ("surprise 1.1.5", "ratings", math.inf, 1.2583057392117916, 1.0),
        ("recbole 1.2.1", "ratings", math.inf, 1.2583057392117916, 1.0),
        ("lenskit 2025.8.1", "users", math.inf, 1.3737734478532142, 1.222222222222222),
        ("cornac 3.0.1", "ratings", 5.0, 1.1902380714238083, 0.8333333333333334),
        ("cornac 3.0.1, user_based", "users", 5.0, 1.2741539509456528, 1.1111111111111112),
    ],
)
def test_errors_are_averaged_as_the_evaluator_does(evaluator, over, clip, rmse, mae, protocol):
    pairs = predictions([(user, item, min(predicted, clip), real) for user, item, predicted, real in PAIRS])
    rules = protocol(predict__average=over)
    values = [average_predictions(parse_measure(name, rules, metrics()), pairs).value for name in ("rmse", "mae")]
    assert values == pytest.approx([rmse, mae], abs=1e-9), evaluator


# Surprise 1.1.5: user, item, prediction, rating, and what accuracy.mse and accuracy.fcp gave.
MISSING = [(1, 2, math.nan, 2.0) if pair[:2] == (1, 2) else pair for pair in PAIRS]
THREE_AND_TWO = [(1, 1, 1, 1), (1, 2, 2, 2), (1, 3, 3, 3), (2, 1, 2, 1), (2, 2, 1, 2)]
THREE_USERS = [(1, 1, 1, 1), (1, 2, 2, 2), (2, 1, 1, 1), (2, 2, 2, 2), (3, 1, 2, 1), (3, 2, 1, 2)]
TIED = [(1, 1, 3, 1), (1, 2, 3, 2)]


@pytest.mark.parametrize(
    ("pairs", "name", "value"),
    [
        (PAIRS, "mse", 1.5833333333333333),
        (PAIRS, "fcp", 0.75),
        (MISSING, "fcp", 0.5),
        (THREE_AND_TWO, "fcp", 0.75),
        (THREE_USERS, "fcp", 0.5),
        (TIED, "fcp", 0.0),
    ],
)
def test_numbers_of_surprise(pairs, name, value, protocol):
    rules = protocol(metric__fcp__join="mean-counts", metric__fcp__ties="discordant")
    result = average_predictions(parse_measure(name, rules, metrics()), predictions(pairs)).value
    assert result == pytest.approx(value, abs=1e-12)


def test_predictions_that_surprise_clipped_and_made_up(protocol):
    # Estimates 6.7, -2 and 3.3 within a scale of 1 to 5, one that is not a number and becomes the upper bound, and
    # two that were impossible and become the mean training rating, 3; test_rmse and test_mae of Surprise 1.1.5.
    rules = protocol(predict__clip="scale", predict__missing="constant", predict__constant=5.0)
    users, items = np.array([1, 1, 2, 3, 99, 1], dtype=np.int32), np.array([3, 4, 2, 1, 1, 9], dtype=np.int32)
    scores = Scores(
        np.array([6.7, -2.0, math.nan, 3.3, 3.0, 3.0]), np.array([SCORED] * 4 + [FALLBACK] * 2, dtype=np.uint8)
    )
    ratings = np.array([5.0, 1.0, 3.0, 3.0, 4.0, 2.0])
    pairs = resolve_predictions(scores, ratings, users, items, rules, TrainRatings(None, (1.0, 5.0), (1.0, 5.0)))
    names = {"rmse": 1.0074720839804943, "mae": 0.7166666666666667, "prediction-coverage": 3 / 6}
    result = {name: average_predictions(parse_measure(name, rules, metrics()), pairs).value for name in names}
    assert result == pytest.approx(names, abs=1e-12)
