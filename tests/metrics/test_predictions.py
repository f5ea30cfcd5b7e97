"""Predicted ratings: the numbers of a tutorial and a lecture, and every rule for predictions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from repro.data.means import RatingMeans
from repro.errors import ProtocolError
from repro.metrics import TrainRatings, average_errors, metrics, parse_measure, resolve_predictions
from repro.plugin import FALLBACK, SCORED, UNSCORED, Scores

NAN = math.nan
USERS, ITEMS = np.array([1, 1, 1, 2], dtype=np.int32), np.array([1, 2, 3, 1], dtype=np.int32)
REAL = np.array([5.0, 3.0, 1.0, 3.0])
TRAIN = TrainRatings(
    RatingMeans(3.5, users=np.array([3.5, 2.0, 3.5]), items=np.array([3.5, 4.0, 1.5, 3.5])),
    scale=(1.0, 5.0),
    observed=(2.0, 4.0),
)


@pytest.fixture(scope="session")
def resolved(protocol):
    def computed(predicted, state=None, real=REAL, **changes):
        decisions = protocol(**{f"predict__{key}": value for key, value in changes.items()})
        scores = Scores(np.array(predicted, dtype=float), None if state is None else np.array(state, np.uint8))
        n = len(real)
        return resolve_predictions(scores, np.array(real), USERS[:n], ITEMS[:n], decisions, TRAIN), decisions

    return computed


@pytest.fixture(scope="session")
def errors(resolved):
    """MAE and RMSE."""

    def computed(predicted, state=None, real=REAL, **changes):
        pairs, decisions = resolved(predicted, state, real, **changes)
        asked = [parse_measure(name, decisions, metrics()) for name in ("mae", "rmse")]
        return tuple(average_errors(measure, pairs, decisions).value for measure in asked)

    return computed


@pytest.mark.parametrize(
    ("predicted", "mae", "rmse"),
    [((4, 2, 1, 2), 0.75, 0.87), ((8, 4, 2, 4), 1.5, 1.73), ((5, 1, 1, 2), 0.75, 1.12)],
)
def test_three_recommenders_of_the_tutorial(predicted, mae, rmse, errors):
    assert tuple(round(value, 2) for value in errors(predicted)) == (mae, rmse)


def test_missing_predictions_of_the_tutorial(errors):
    second, third = (NAN, 4, NAN, 4), (4, NAN, 1, NAN)
    assert errors(second, missing="constant", constant=0) == pytest.approx((2.0, math.sqrt(7)))
    assert errors(second, missing="constant", constant=3) == pytest.approx((1.5, math.sqrt(2.5)))
    assert errors(third) == pytest.approx((0.5, math.sqrt(0.5)))
    assert errors(third, missing="constant", constant=0) == pytest.approx((1.75, math.sqrt(4.75)))
    assert errors(third, missing="constant", constant=3) == pytest.approx((0.25, 0.5))


def test_an_erratum_of_the_tutorial(errors):
    # The slide prints 2.00 and 2.00 for the second recommender with missing predictions ignored. Both errors
    # that are left, 4 - 3, are 1.
    assert errors((NAN, 4, NAN, 4), missing="skip") == (1.0, 1.0)


def test_errors_of_the_lecture():
    wrong = np.array([-0.2, 0.3, 1.9, 0.9])
    rmse, mae = (metrics()[name].compute(wrong, {}) for name in ("rmse", "mae"))
    assert round(rmse**2, 4) == 1.1375
    assert round(rmse, 3) == 1.067
    assert mae == pytest.approx(0.825)


def test_missing_predictions_as_means(errors):
    # User 1 has a mean of 2, user 2 none: the global mean 3.5. Items 1, 2 and 3: 4, 1.5 and none.
    nothing = (NAN, NAN, NAN, NAN)
    assert errors(nothing, missing="user-mean")[0] == pytest.approx((3 + 1 + 1 + 0.5) / 4)
    assert errors(nothing, missing="item-mean")[0] == pytest.approx((1 + 1.5 + 2.5 + 1) / 4)
    assert errors(nothing, missing="global-mean")[0] == pytest.approx((1.5 + 0.5 + 2.5 + 0.5) / 4)


def test_a_missing_prediction_stops_the_run_where_asked(errors, resolved):
    with pytest.raises(ProtocolError, match="2 of 4 test pairs have no prediction"):
        resolved((NAN, 4, NAN, 4), missing="fail")
    assert errors((4, 2, 1, 2), missing="fail")[0] == 0.75


def test_what_a_framework_made_up(errors):
    predicted, state = (4, 3, 9, 1), (SCORED, FALLBACK, UNSCORED, SCORED)
    assert errors(predicted, state)[0] == pytest.approx((1 + 0 + 2) / 3)
    assert errors(predicted, state, fallback="missing")[0] == pytest.approx((1 + 2) / 2)


def test_clipping_and_rounding(resolved):
    predicted = (8.0, 3.5, -1.0, 2.75)
    assert resolved(predicted)[0].errors.tolist() == [3.0, 0.5, -2.0, -0.25]
    assert resolved(predicted, clip="scale")[0].errors.tolist() == [0.0, 0.5, 0.0, -0.25]
    assert resolved(predicted, clip="train")[0].errors.tolist() == [-1.0, 0.5, 1.0, -0.25]
    assert resolved(predicted, round=1)[0].errors.tolist() == [3.0, 1.0, -2.0, 0.0]
    assert resolved(predicted, round=0.5)[0].errors.tolist() == [3.0, 0.5, -2.0, 0.0]
    assert resolved((4.9, 3, 1, 3), clip="scale", round=2)[0].errors.tolist() == [-1.0, 1.0, 1.0, 1.0]


def test_rounding_never_leaves_the_scale(resolved):
    # 4.9 is rounded to 6 in steps of 3, and then clipped.
    assert resolved((4.9, 3, 1, 3), clip="scale", round=3)[0].errors.tolist() == [0.0, 0.0, 0.0, 0.0]


def test_averages_over_ratings_users_and_items(errors):
    # Errors 1, -1, 0 of user 1 and -1 of user 2; item 1 has 1 and -1, item 2 has -1, item 3 has 0.
    predicted = (6, 2, 1, 2)
    assert errors(predicted) == pytest.approx((0.75, math.sqrt(0.75)))
    assert errors(predicted, average="users") == pytest.approx(((2 / 3 + 1) / 2, (math.sqrt(2 / 3) + 1) / 2))
    assert errors(predicted, average="items") == pytest.approx((2 / 3, 2 / 3))


def test_each_user_alone(resolved):
    pairs, decisions = resolved((6, 2, 1, NAN))
    found = average_errors(parse_measure("rmse", decisions, metrics()), pairs, decisions)
    assert found.users.tolist() == [1]
    assert found.values == pytest.approx([math.sqrt(2 / 3)])
    assert found.users_counted == 1


def test_no_predictions_at_all(errors):
    assert all(math.isnan(value) for value in errors((NAN,) * 4))
    assert all(math.isnan(value) for value in errors((NAN,) * 4, average="users"))


def test_impacts_say_what_was_touched(resolved):
    pairs, _ = resolved((8.0, NAN, 1.2, 3.0), (SCORED, SCORED, SCORED, FALLBACK), clip="scale", round=1)
    assert [(i.decision, i.value, i.touched, i.total, i.unit) for i in pairs.impacts] == [
        ("predict.missing", "skip", 1, 4, "test pairs"),
        ("predict.fallback", "accept", 1, 4, "test pairs"),
        ("predict.round", 1.0, 1, 3, "test pairs"),
        ("predict.clip", "scale", 1, 3, "test pairs"),
    ]
