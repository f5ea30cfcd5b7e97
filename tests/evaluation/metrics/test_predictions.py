"""Predicted ratings: the numbers of a tutorial and a lecture, and every rule for predictions."""

import functools
import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from repro.data.rating_means import RatingMeans
from repro.errors import ProtocolError
from repro.evaluation.metrics import (
    Predictions,
    TrainRatings,
    average_predictions,
    metrics,
    parse_measure,
    resolve_predictions,
)
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
def numbers(resolved):
    """``numbers("mae rmse", predictions)``: the value of each metric named."""

    def computed(names, predicted, state=None, real=REAL, **changes):
        pairs, decisions = resolved(predicted, state, real, **changes)
        parsed = [parse_measure(name, decisions, metrics()) for name in names.split()]
        return tuple(average_predictions(measure, pairs).value for measure in parsed)

    return computed


@pytest.fixture(scope="session")
def errors(numbers):
    """MAE and RMSE."""
    return functools.partial(numbers, "mae rmse")


@pytest.mark.parametrize(
    ("predicted", "mae", "rmse"),
    [((4, 2, 1, 2), 0.75, 0.87), ((8, 4, 2, 4), 1.5, 1.73), ((5, 1, 1, 2), 0.75, 1.12)],
)
def test_three_recommenders_of_the_tutorial(predicted, mae, rmse, errors):
    assert tuple(round(value, 2) for value in errors(predicted)) == (mae, rmse)


def test_missing_predictions_of_the_tutorial(errors):
    first, second, third = (4, 2, 1, 2), (NAN, 4, NAN, 4), (4, NAN, 1, NAN)
    for rule in ({"missing": "skip"}, {"missing": "constant", "constant": 0}, {"missing": "constant", "constant": 3}):
        assert tuple(round(value, 2) for value in errors(first, **rule)) == (0.75, 0.87)
    assert errors(second, missing="constant", constant=0) == pytest.approx((2.0, math.sqrt(7)))
    assert errors(second, missing="constant", constant=3) == pytest.approx((1.5, math.sqrt(2.5)))
    assert errors(third) == pytest.approx((0.5, math.sqrt(0.5)))
    assert errors(third, missing="constant", constant=0) == pytest.approx((1.75, math.sqrt(4.75)))
    assert errors(third, missing="constant", constant=3) == pytest.approx((0.25, 0.5))


def test_an_erratum_of_the_tutorial(errors):
    # The slide prints 2.00 and 2.00 for the second recommender with missing predictions ignored. Both errors
    # that are left, 4 - 3, are 1.
    printed = (2.0, 2.0)
    result = errors((NAN, 4, NAN, 4), missing="skip")
    assert result == (1.0, 1.0)
    assert result != printed


def test_errors_of_the_lecture(numbers):
    predicted = REAL + np.array([-0.2, 0.3, 1.9, 0.9])
    mse, rmse, mae = numbers("mse rmse mae", predicted)
    assert mse == pytest.approx((0.04 + 0.09 + 3.61 + 0.81) / 4, abs=1e-12)
    assert math.ceil(mse * 1000) / 1000 == 1.138  # 1.1375, a half that the slide rounds up
    assert round(rmse, 3) == 1.067
    assert mae == pytest.approx(0.825, abs=1e-12)


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


def test_a_name_that_states_what_is_averaged_wins_over_the_protocol(numbers):
    predicted = (6, 2, 1, 2)
    by_users, by_items = ((2 / 3 + 1) / 2, (math.sqrt(2 / 3) + 1) / 2), (2 / 3, 2 / 3)
    for over in ("ratings", "users", "items"):
        assert numbers("umae urmse", predicted, average=over) == pytest.approx(by_users)
        assert numbers("mae[average=items] irmse", predicted, average=over) == pytest.approx(by_items)
        assert numbers("mse[average=ratings]", predicted, average=over) == pytest.approx((0.75,))
    assert numbers("umse imse imae", predicted) == pytest.approx(((2 / 3 + 1) / 2, 2 / 3, 2 / 3))


def test_names_state_what_is_averaged(measure):
    assert measure("umae").full_name == "mae[average=users]"
    assert measure("rmse", predict__average="items").full_name == "rmse[average=items]"
    assert measure("nrmse[average=items]").full_name == "nrmse[average=items,by=range]"
    with pytest.raises(ProtocolError, match=r"states average twice: its name means average=users"):
        measure("umae[average=items]")


def test_normalised_by_the_range(numbers):
    # The scale is 1 to 5.
    assert numbers("nmae nrmse", (6, 2, 1, 2)) == pytest.approx((0.75 / 4, math.sqrt(0.75) / 4), abs=1e-15)
    assert numbers("nmae[average=items]", (6, 2, 1, 2)) == pytest.approx((2 / 3 / 4,), abs=1e-15)


@pytest.mark.parametrize(
    ("low", "high", "step", "expected"),
    [(1, 5, 1, 1.6), (0, 5, 1, 35 / 18), (0.5, 5, 0.5, 1.65), (-10, 10, 20, 10)],
)
def test_normalised_by_the_error_of_chance(low, high, step, expected):
    # Marlin divides by 1.6 on the ratings 1 to 5 of MovieLens, and by 1.944 on the ratings 0 to 5 of EachMovie.
    ratings = np.arange(low, high + step / 2, step)
    differences = np.subtract.outer(ratings, ratings)
    assert np.abs(differences).mean() == pytest.approx(expected)
    everyone = np.array([0], dtype=np.int32)
    pair = Predictions(everyone, everyone, np.array([2.0]), np.array([3.0]), np.array([True]), (low, high))
    variants = {"by": "uniform", "step": step}
    assert metrics()["nmae"].compute(pair, variants) == pytest.approx(1 / expected, abs=1e-12)
    root = math.sqrt((differences**2).mean())
    assert metrics()["nrmse"].compute(pair, variants) == pytest.approx(1 / root, abs=1e-12)


def test_chance_has_an_error_of_1(numbers):
    # Independent and uniform on a small scale: every rating meets every prediction once.
    real, predicted = (1.0, 1.0, 5.0, 5.0), (1, 5, 1, 5)
    assert numbers("nmae[by=uniform,step=4] nrmse[by=uniform,step=4]", predicted, real=real) == pytest.approx((1, 1))


def test_chance_on_a_continuous_scale(numbers):
    # A fine scale comes close to the continuum: E|X - Y| = 4 / 3, E(X - Y)^2 = 16 / 6.
    predicted = (6, 2, 1, 2)
    result = numbers("nmae[by=continuous] nrmse[by=continuous]", predicted)
    assert result == pytest.approx((0.75 * 3 / 4, math.sqrt(0.75 * 6 / 16)), abs=1e-12)
    fine = numbers("nmae[by=uniform,step=0.0001] nrmse[by=uniform,step=0.0001]", predicted)
    assert fine == pytest.approx(result, rel=1e-4)


def test_a_scale_that_is_not_made_of_its_steps_is_told(numbers):
    with pytest.raises(ProtocolError, match=r"the rating scale from 1 to 5 is not made of steps of 1\.5"):
        numbers("nmae[by=uniform,step=1.5]", (6, 2, 1, 2))
    with pytest.raises(ProtocolError, match="has no effect here"):
        numbers("nmae[step=0.5]", (6, 2, 1, 2))


def test_a_scale_of_one_rating_has_no_unit(resolved):
    pairs, _ = resolved((6, 2, 1, 2))
    single = replace(pairs, scale=(3.0, 3.0))
    for name in ("nmae", "nrmse"):
        for by in ("range", "uniform", "continuous"):
            assert math.isnan(metrics()[name].compute(single, {"by": by, "step": 1.0}))


def test_prediction_coverage_counts_what_the_algorithm_itself_predicted(numbers):
    # One prediction is missing, one unscored, one made up by the framework: one of four is left, whatever the rules.
    predicted, state = (NAN, 3, 9, 1), (SCORED, FALLBACK, UNSCORED, SCORED)
    for rules in ({}, {"fallback": "missing"}, {"missing": "constant", "constant": 3}, {"missing": "global-mean"}):
        assert numbers("prediction-coverage", predicted, state, **rules) == (1 / 4,)
    assert numbers("prediction-coverage", (4, 2, 1, 2)) == (1.0,)
    assert numbers("prediction-coverage", (NAN,) * 4) == (0.0,)


def test_prediction_coverage_of_each_user_and_without_pairs(resolved, measure):
    pairs, _ = resolved((4, NAN, 1, NAN), (SCORED, SCORED, FALLBACK, SCORED))
    result = average_predictions(measure("prediction-coverage"), pairs)
    assert (result.users.tolist(), result.values.tolist()) == ([1, 2], [1 / 3, 0.0])
    nothing = pairs.select(slice(0, 0))
    assert math.isnan(average_predictions(measure("prediction-coverage"), nothing).value)
    assert math.isnan(average_predictions(measure("umae"), nothing).value)


def test_each_user_alone(resolved, measure):
    pairs, _ = resolved((6, 2, 1, NAN))
    result = average_predictions(measure("rmse"), pairs)
    assert result.users.tolist() == [1]
    assert result.values == pytest.approx([math.sqrt(2 / 3)])
    assert result.users_counted == 1


def test_no_predictions_at_all(errors):
    assert all(math.isnan(value) for value in errors((NAN,) * 4))
    assert all(math.isnan(value) for value in errors((NAN,) * 4, average="users"))


def test_numbers_do_not_depend_on_the_order_of_pairs(resolved, measure):
    pairs, _ = resolved((4.1, 2.7, NAN, 2.3), (SCORED, SCORED, SCORED, FALLBACK))
    for name in ("mae", "urmse", "imse", "nmae[by=uniform]", "fcp", "prediction-coverage"):
        result = {average_predictions(measure(name), pairs.select(np.array(o))).value for o in permutations(range(4))}
        assert len(result) == 1, name


def test_impacts_say_what_was_touched(resolved):
    pairs, _ = resolved((8.0, NAN, 1.2, 3.0), (SCORED, SCORED, SCORED, FALLBACK), clip="scale", round=1)
    assert [(i.decision, i.value, i.touched, i.total, i.unit) for i in pairs.impacts] == [
        ("predict.missing", "skip", 1, 4, "test pairs"),
        ("predict.fallback", "accept", 1, 4, "test pairs"),
        ("predict.round", 1.0, 1, 3, "test pairs"),
        ("predict.clip", "scale", 1, 3, "test pairs"),
    ]


def test_a_missing_prediction_can_spoil_every_error_that_it_is_in(resolved, numbers):
    predicted = [4.0, NAN, 2.0, 3.5]  # errors of user 1: -1, none, 1; of user 2: 0.5
    assert numbers("mae rmse mse", predicted, missing="nan") == pytest.approx((NAN, NAN, NAN), nan_ok=True)
    assert numbers("mae", predicted, missing="skip") == pytest.approx((2.5 / 3,))
    assert numbers("mae", [4.0, 3.0, 2.0, 3.5], missing="nan") == pytest.approx((2.5 / 4,))
    pairs, decisions = resolved(predicted, missing="nan", average="users")
    result = average_predictions(parse_measure("mae", decisions, metrics()), pairs)
    assert math.isnan(result.value)
    assert dict(zip(result.users.tolist(), result.values.tolist(), strict=True)) == pytest.approx(
        {1: NAN, 2: 0.5}, nan_ok=True
    )
    assert numbers("prediction-coverage", predicted, missing="nan") == (0.75,)
