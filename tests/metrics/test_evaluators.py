"""What other evaluators gave on the same six lists, met by the right variants.

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

from repro.metrics import (
    Predictions,
    average,
    average_errors,
    metrics,
    parse_measure,
)

DATA = json.loads((pathlib.Path(__file__).parent / "data" / "evaluators.json").read_text(encoding="utf-8"))
USERS = list(DATA["lists"])
TRUTH = [{int(item): float(rating) for item, rating in DATA["truth"][user].items()} for user in USERS]


def scores(every_item: bool) -> list[dict[int, float]]:
    """The lists as scores; with ``every_item``, all twelve items are ranked, those not listed tied below."""
    below = dict.fromkeys(range(1, 13), 0.0) if every_item else {}
    return [below | {item: 1.0 - 0.05 * place for place, item in enumerate(DATA["lists"][user])} for user in USERS]


@pytest.mark.parametrize("row", DATA["rows"], ids=lambda row: f"{row['evaluator']}-{row['measure']}")
def test_variant_gives_what_the_evaluator_gave(row, protocol, ranked):
    decisions = {key.replace(".", "__"): value for key, value in row.get("protocol", {}).items()}
    asked = protocol(**decisions)
    measure = parse_measure(row["measure"], asked, metrics())
    shared = asked["ties.break"] == "shared-worst"
    lists = ranked(
        scores(every_item=shared),
        TRUTH,
        ties="shared-worst" if shared else "definite",
        threshold=asked.number("relevance.threshold"),
    )
    ratio = measure.metric.compute(lists, measure.cutoff, measure.variants)
    averaged = average(measure, ratio, lists.users, lists.strata, lists.lengths == 0, asked)
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
    users, items, predicted, real = (np.array(column) for column in zip(*PAIRS, strict=True))
    pairs = Predictions(users, items, np.minimum(predicted, clip) - real)
    asked = protocol(predict__average=over)
    values = [average_errors(parse_measure(name, asked, metrics()), pairs, asked).value for name in ("rmse", "mae")]
    assert values == pytest.approx([rmse, mae], abs=1e-9), evaluator
