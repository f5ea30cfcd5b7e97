"""Results of Surprise's own measures for known predictions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from surprise import AlgoBase, Dataset, Prediction, Reader, accuracy

from repro.errors import PluginError
from repro.plugin import Case, plugins

Make = Callable[..., Case]
LIST, TESTED = "surprise/accuracy", "surprise/test"
both = pytest.mark.parametrize("name", [LIST, TESTED])


def value(name: str, case: Case, measure: str) -> float:
    actual = plugins().evaluate(plugins().evaluators()[name], case, measure, None)
    assert actual.per_user is None
    assert actual.value is not None
    return actual.value


# Predictions that Surprise was run on. Errors: 0.5, 0.5 and 1 of user 1; 2 of user 2; 0 and 2 of user 3.
PREDICTED = {1: {1: 3.5, 2: 2.5, 3: 6.0}, 2: {1: 3.0}, 3: {2: 3.0, 3: 2.0}}
RATED = {1: {1: 4.0, 2: 2.0, 3: 5.0}, 2: {1: 1.0}, 3: {2: 3.0, 3: 4.0}}


@pytest.mark.parametrize(
    ("measure", "expected"), [("rmse", 1.2583057392117916), ("mae", 1.0), ("mse", 1.5833333333333333), ("fcp", 0.75)]
)
def test_measures_are_over_all_predictions(measure: str, expected: float, case_of: Make) -> None:
    assert value(LIST, case_of(PREDICTED, RATED), measure) == pytest.approx(expected, abs=1e-9)


def test_a_fitted_algorithm_clips_to_the_scale_that_is_stated(case_of: Make) -> None:
    """The prediction of 6 becomes 5, which is the rating, and then 4."""
    squares = 0.25 + 0.25 + 4 + 4
    assert value(TESTED, case_of(PREDICTED, RATED), "mse") == pytest.approx(squares / 6, abs=1e-12)
    narrow = case_of(PREDICTED, RATED, scale=(2.0, 4.0))
    assert value(TESTED, narrow, "mse") == pytest.approx((squares + 1) / 6, abs=1e-12)


def test_a_fitted_algorithm_that_surprise_was_run_on(case_of: Make) -> None:
    """Estimates of 6.7 and -2 are clipped to 5 and 1, none at all becomes 5, and two that are impossible the mean
    training rating, which is 3, whatever score is given for them: errors of 0, 0, 2, 0.3, 1 and 1."""
    case = case_of(
        {1: {3: 6.7, 4: -2.0, 9: 4.5}, 2: {2: np.nan}, 3: {1: 3.3}, 99: {1: 4.5}},
        {1: {3: 5.0, 4: 1.0, 9: 2.0}, 2: {2: 3.0}, 3: {1: 3.0}, 99: {1: 4.0}},
        {1: {1: 5.0, 2: 3.0}, 2: {1: 4.0, 3: 2.0}, 3: {4: 1.0}},
        fallback=[(99, 1), (1, 9)],
    )
    assert value(TESTED, case, "rmse") == pytest.approx(1.0074720839804943, abs=1e-9)
    assert value(TESTED, case, "mae") == pytest.approx(0.7166666666666667, abs=1e-9)


def test_impossible_predictions_count_as_they_are_in_a_list(case_of: Make) -> None:
    case = case_of({1: {1: 4.5, 2: 3.0}}, {1: {1: 4.0, 2: 3.0}}, fallback=[(1, 1)])
    assert value(LIST, case, "mae") == 0.25
    assert value(TESTED, case, "mae") == 0.5  # the mean training rating is 3


def test_an_estimate_that_is_no_number_spoils_errors_and_is_in_no_pair(case_of: Make) -> None:
    case = case_of({**PREDICTED, 1: {1: 3.5, 2: np.nan, 3: 6.0}}, RATED)
    assert np.isnan(value(LIST, case, "rmse"))
    assert np.isnan(value(LIST, case, "mae"))
    assert value(LIST, case, "fcp") == 0.5


@both
def test_pairs_are_averaged_over_the_users_who_have_such_pairs(name: str, case_of: Make) -> None:
    """Concordant pairs: 1 each of users 1 and 2; discordant: 1 of user 3. Their means are 1 and 1."""
    rated = {user: {1: 1.0, 2: 2.0} for user in (1, 2, 3)}
    case = case_of({1: {1: 1.0, 2: 2.0}, 2: {1: 1.0, 2: 2.0}, 3: {1: 2.0, 2: 1.0}}, rated)
    assert value(name, case, "fcp") == 0.5


@both
def test_three_pairs_of_one_user_and_one_of_another(name: str, case_of: Make) -> None:
    case = case_of(
        {1: {1: 1.0, 2: 2.0, 3: 3.0}, 2: {1: 2.0, 2: 1.0}}, {1: {1: 1.0, 2: 2.0, 3: 3.0}, 2: {1: 1.0, 2: 2.0}}
    )
    assert value(name, case, "fcp") == 0.75


@both
def test_tied_predictions_are_discordant_and_tied_ratings_are_no_pair(name: str, case_of: Make) -> None:
    assert value(name, case_of({1: {1: 3.0, 2: 3.0}}, {1: {1: 1.0, 2: 2.0}}), "fcp") == 0.0
    with pytest.raises(PluginError, match="cannot compute fcp"):
        value(name, case_of({1: {1: 3.0, 2: 2.0}}, {1: {1: 1.0, 2: 1.0}}), "fcp")


def test_what_is_not_listed_is_not_predicted(case_of: Make) -> None:
    case = case_of({1: {1: 3.0}, 2: {}}, {1: {1: 4.0, 2: 2.0}, 2: {1: 1.0}})
    assert value(LIST, case, "mae") == 1.0
    with pytest.raises(PluginError, match="Prediction list is empty"):
        value(LIST, case_of({1: {}}, {1: {1: 1.0}}), "mae")


class ByHand(AlgoBase):
    """Estimates by raw ids, written down."""

    def estimate(self, u: int | str, i: int | str) -> float:
        users = {0: 7, 1: 20}  # as they come in training
        user = users[u] if isinstance(u, int) else u
        return {(7, 1): 6.5, (20, 0): 2.5, ("UKN__3", 0): 0.5}[user, i]


def test_the_adapter_gives_what_a_direct_call_gives(case_of: Make) -> None:
    """Users 7 and 20 with items 10 and 2 in training, user 3 without."""
    import pandas as pd

    rows = pd.DataFrame({"user": [7, 20], "item": [10, 2], "rating": [4.0, 2.0]})
    algorithm = ByHand().fit(Dataset.load_from_df(rows, Reader(rating_scale=(1, 5))).build_full_trainset())
    case = case_of(
        {7: {10: 0.0, 2: 6.5}, 20: {10: 2.5, 2: 0.0}, 3: {10: 0.5, 2: 0.0}},
        {7: {2: 4.0}, 20: {10: 3.0}, 3: {10: 3.5}},
        {7: {10: 4.0}, 20: {2: 2.0}},
    )
    tested = algorithm.test([(7, 2, 4.0), (20, 10, 3.0), (3, 10, 3.5)])
    listed = [Prediction(7, 2, 4.0, 6.5, {}), Prediction(20, 10, 3.0, 2.5, {}), Prediction(3, 10, 3.5, 0.5, {})]
    for measure in ("rmse", "mae", "mse"):
        direct = getattr(accuracy, measure)
        assert value(TESTED, case, measure) == pytest.approx(direct(tested, verbose=False), abs=1e-15)
        assert value(LIST, case, measure) == pytest.approx(direct(listed, verbose=False), abs=1e-15)
