"""Results of LensKit's own evaluation for known scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from lenskit.data import ItemList, ItemListCollection, UserIDKey
from lenskit.metrics import MAE, NDCG, RMSE, RunAnalysis
from lenskit.metrics.ranking import AveragePrecision, Hit, Precision, Recall, RecipRank

from repro.errors import PluginError
from repro.plugin import Case, Observed, plugins

Make = Callable[..., Case]
SUMMED, GLOBAL, RECOMMENDED = "RunAnalysis", "RunAnalysis-global", "recommend"
LISTS = [SUMMED, GLOBAL]


def observed(name: str, case: Case, measure: str, k: int | None = None) -> Observed:
    return plugins().evaluate(plugins().evaluators()[f"lenskit/{name}"], case, measure, k)


def by_id(name: str, case: Case, measure: str, k: int | None = None) -> dict[int, float]:
    by_code = observed(name, case, measure, k).per_user
    assert by_code is not None
    return {int(case.test.user_ids[user]): value for user, value in by_code.items()}


# What LensKit gave for users 1, 2, 5 and 6; user 4 has no list.
FIVE_USERS = [
    ("NDCG", 3, 0.3800937667159343, 1.0, 1.0, 0.0),
    ("NDCG", 5, 0.5701406500739015, 1.0, 1.0, 0.0),
    ("NDCG", 10, 0.5701406500739015, 1.0, 0.827382672308645, 0.0),
    ("NDCG_rating", 3, 0.3475871181501167, 1.0, 0.5520375066863737, 0.0),
    ("NDCG_rating", 5, 0.6372430499418806, 1.0, 0.6374883400536726, 0.0),
    ("NDCG_rating", 10, 0.6372430499418806, 1.0, 0.5965073428684063, 0.0),
    ("Recall", 3, 1 / 3, 1.0, 1.0, 0.0),
    ("Recall", 10, 2 / 3, 1.0, 5 / 7, 0.0),
    ("Precision", 3, 1 / 3, 0.5, 1.0, 0.0),
    ("Precision", 10, 0.4, 0.5, 1.0, 0.0),
    ("RecipRank", 3, 0.5, 0.5, 1.0, 0.0),
    ("Hit", 3, 1.0, 1.0, 1.0, 0.0),
    ("RBP", 3, 0.1275, 0.1275, 0.385875, 0.0),
    ("RBP", 5, 0.21961875, 0.1275, 0.5562946875, 0.0),
]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(("measure", "k", "first", "second", "fifth", "sixth"), FIVE_USERS)
def test_five_lists_that_lenskit_was_run_on(
    name: str, measure: str, k: int, first: float, second: float, fifth: float, sixth: float, five_users: Case
) -> None:
    expected = {1: first, 2: second, 5: fifth, 6: sixth}
    assert by_id(name, five_users, measure, k) == pytest.approx(expected, abs=1e-9)
    assert observed(name, five_users, measure, k).value == pytest.approx(sum(expected.values()) / 4, abs=1e-9)


def test_average_precision_divides_by_the_items_listed_or_held_out(five_users: Case) -> None:
    """By hand: user 1 has hits at ranks 2 and 4, user 2 at rank 2 of two, user 5 at all ranks."""
    expected = {1: (1 / 2) / 3, 2: 1 / 2, 5: 1.0, 6: 0.0}
    assert by_id(SUMMED, five_users, "AveragePrecision", 3) == pytest.approx(expected, abs=1e-12)
    expected = {1: (1 / 2 + 2 / 4) / 3, 2: 1 / 2, 5: 1.0, 6: 0.0}
    assert by_id(SUMMED, five_users, "AveragePrecision", 10) == pytest.approx(expected, abs=1e-12)


def test_gini_of_how_often_items_are_listed(five_users: Case) -> None:
    """The four lists have items 1 and 3 three times, 2 twice, 6, 7 and 8 once, and six others never: the weights
    1, 3, 5, 7, 9 and 11 of the last six in ascending order give 83, over 12 items times 11 places."""
    assert observed(SUMMED, five_users, "ListGini", 3).value == pytest.approx(83 / 132, abs=1e-12)
    assert observed(SUMMED, five_users, "ListGini", 3).per_user is None


def test_gini_of_exposure(case_of: Make) -> None:
    """Two lists of two of three items: exposures 1 + 0.85, 1 and 0.85 less what the order makes of it."""
    case = case_of({1: {1: 0.9, 2: 0.5, 3: 0.1}, 2: {1: 0.5, 2: 0.1, 3: 0.9}}, {1: {1: 5.0}, 2: {1: 5.0}})
    exposures = sorted([1 + 0.85, 0.85, 1.0])  # items 1, 2 and 3
    expected = sum(weight * entry for weight, entry in zip((-2, 0, 2), exposures, strict=True)) / (3 * sum(exposures))
    assert observed(SUMMED, case, "ExposureGini", 2).value == pytest.approx(expected, abs=1e-6)  # single precision


def test_the_adapter_gives_what_a_direct_call_gives(case_of: Make) -> None:
    """Lists and held-out items as frames, the lists ranked by hand."""
    ranked = pd.DataFrame({"user_id": [3, 3, 3, 20, 20], "item_id": [10, 33, 2, 7, 10], "rank": [1, 2, 3, 1, 2]})
    held_out = pd.DataFrame({"user_id": [3, 3, 20], "item_id": [2, 7, 7], "rating": [4.0, 1.0, 2.5]})
    lists, test = (ItemListCollection.from_df(frame, UserIDKey) for frame in (ranked, held_out))
    case = case_of(
        {3: {33: 0.5, 10: 0.9, 2: 0.3, 7: np.nan}, 20: {10: 0.1, 7: 0.4}},
        {3: {2: 4.0, 7: 1.0}, 20: {7: 2.5}},
        order=[33, 10, 7, 2],
    )
    metrics = {
        "NDCG": NDCG(n=3),
        "NDCG_rating": NDCG(n=3, gain="rating"),
        "Precision": Precision(n=3),
        "Recall": Recall(n=3),
        "Hit": Hit(n=3),
        "RecipRank": RecipRank(n=3),
        "AveragePrecision": AveragePrecision(n=3),
    }
    for measure, metric in metrics.items():
        result = RunAnalysis(metric).measure(lists, test)
        assert observed(SUMMED, case, measure, 3).value == result.list_summary()["mean"].iloc[0]
        assert observed(GLOBAL, case, measure, 3).value == result.global_metrics().iloc[0]
        assert by_id(SUMMED, case, measure, 3) == result.list_metrics().iloc[:, 0].to_dict()


def place(
    name: str, case_of: Make, scores: dict[int, float], item: int, k: int = 9, **parameters: object
) -> int | None:
    """The rank of an item, None where it is not in the list."""
    value = by_id(name, case_of({1: scores}, {1: {item: 5.0}}, **parameters), "RecipRank", k)[1]
    return round(1 / value) if value else None


@pytest.mark.parametrize("name", [SUMMED, RECOMMENDED])
def test_items_without_a_score_are_left_out_and_infinite_ones_are_not(name: str, case_of: Make) -> None:
    scores = {1: -np.inf, 2: np.nan, 3: 0.0, 4: np.inf}
    assert [place(name, case_of, scores, item) for item in (4, 3, 1, 2)] == [1, 2, 3, None]


@pytest.mark.parametrize("name", [SUMMED, RECOMMENDED])
def test_scores_are_kept_in_single_precision(name: str, case_of: Make) -> None:
    assert [place(name, case_of, {1: 0.5, 2: 0.5 + 1e-9}, item) for item in (1, 2)] == [1, 2]
    assert [place(name, case_of, {1: 0.5, 2: 0.5 + 1e-7}, item) for item in (1, 2)] == [2, 1]


def test_few_tied_items_stay_in_the_order_of_presentation(case_of: Make) -> None:
    tied = {10: 0.5, 2: 0.5, 33: 0.5, 4: 0.9}
    positions = [place(SUMMED, case_of, tied, item, order=[33, 2, 4, 10]) for item in (4, 33, 2, 10)]
    assert positions == [1, 2, 3, 4]


def test_a_pipeline_numbers_items_itself_whatever_the_order_of_presentation(case_of: Make) -> None:
    tied = {10: 0.5, 2: 0.5, 33: 0.5, 4: 0.9}
    positions = [place(RECOMMENDED, case_of, tied, item, order=[33, 2, 4, 10]) for item in (4, 2, 10, 33)]
    assert positions == [1, 2, 3, 4]


def test_training_items_and_unknown_items_are_not_recommended_and_still_count(case_of: Make) -> None:
    """User 1 has item 1; item 4 is in no training row. Held out are 2 and 4: half of them can be found."""
    train = {1: {1: 5.0}, 9: {2: 3.0, 3: 3.0}}
    scores = {1: 0.9, 4: 0.8, 3: 0.7, 2: 0.6}
    assert [place(RECOMMENDED, case_of, scores, item, train=train) for item in (1, 4, 3, 2)] == [None, None, 1, 2]
    case = case_of({1: scores}, {1: {2: 5.0, 4: 5.0}}, train)
    assert by_id(RECOMMENDED, case, "Recall", 3) == {1: 0.5}
    assert by_id(RECOMMENDED, case, "Precision", 3) == {1: 0.5}  # of two items that are listed


def test_a_user_without_training_rows_is_recommended_all_items(case_of: Make) -> None:
    train = {9: {1: 3.0, 2: 3.0}}
    assert [place(RECOMMENDED, case_of, {1: 0.9, 2: 0.8}, item, train=train) for item in (1, 2)] == [1, 2]


def test_every_held_out_item_is_relevant_and_a_rating_of_0_gains_nothing(case_of: Make) -> None:
    """Ideal lists by rating: of zeros only, 0 / 0, filled with 0 in the summary; it spoils the global mean."""
    scores = {1: {1: 0.9, 2: 0.5}, 2: {1: 0.9, 2: 0.5}}
    case = case_of(scores, {1: {1: 0.0}, 2: {1: 5.0}})
    assert by_id(SUMMED, case, "NDCG", 2) == {1: 1.0, 2: 1.0}
    with np.errstate(invalid="ignore"):
        assert observed(SUMMED, case, "NDCG_rating", 2).value == 0.5
        actual = observed(GLOBAL, case, "NDCG_rating", 2)
    assert actual.value is not None
    assert np.isnan(actual.value)


def test_a_list_whose_items_have_no_scores_counts_0_or_spoils_the_mean_of_precision(case_of: Make) -> None:
    case = case_of({1: {1: np.nan, 2: np.nan}, 2: {1: 0.9, 2: 0.5}}, {1: {1: 5.0}, 2: {1: 5.0}})
    assert observed(SUMMED, case, "Precision", 1).value == 0.5
    assert observed(SUMMED, case, "NDCG", 1).value == 0.5
    actual = observed(GLOBAL, case, "Precision", 1)
    assert actual.value is not None
    assert np.isnan(actual.value)
    assert observed(GLOBAL, case, "NDCG", 1).value == 0.5


# Predictions that LensKit was run on. Errors: 0.5, 0.5 and 1 of user 1; 2 of user 2; 0 and 2 of user 3.
PREDICTED = {1: {1: 3.5, 2: 2.5, 3: 6.0}, 2: {1: 3.0}, 3: {2: 3.0, 3: 2.0}}
RATED = {1: {1: 4.0, 2: 2.0, 3: 5.0}, 2: {1: 1.0}, 3: {2: 3.0, 3: 4.0}}


@pytest.mark.parametrize("name", ["predictions", "predictions-global"])
def test_errors_are_averaged_by_user_everywhere(name: str, case_of: Make) -> None:
    case = case_of(PREDICTED, RATED)
    assert observed(name, case, "RMSE").value == pytest.approx(1.3737734478532142, abs=1e-9)
    assert observed(name, case, "MAE").value == pytest.approx(11 / 9, abs=1e-9)
    assert by_id(name, case, "RMSE") == pytest.approx({1: 0.5**0.5, 2: 2.0, 3: 2**0.5}, abs=1e-9)


def test_errors_of_a_direct_call_are_the_same(case_of: Make) -> None:
    """On lists of predictions written by hand."""
    case = case_of({1: {1: 3.5, 2: 2.5}}, {1: {1: 4.0, 2: 2.0}})
    predictions = ItemList(item_ids=[2, 1], scores=[2.5, 3.5])
    rated = ItemList(item_ids=[1, 2], rating=[4.0, 2.0])
    for metric in (RMSE(), MAE()):
        assert by_id("predictions", case, metric.label) == {1: metric.measure_list(predictions, rated)}


def test_a_rating_without_a_prediction_is_refused_and_a_user_without_any_is_left_out(case_of: Make) -> None:
    without = case_of({1: {1: 3.5, 2: np.nan}}, {1: {1: 4.0, 2: 2.0}})
    with pytest.raises(PluginError, match="missing scores for 1 truth items"):
        observed("predictions", without, "RMSE")
    left_out = case_of({1: {1: 3.5}, 2: {}}, {1: {1: 4.0}, 2: {1: 1.0}})
    assert by_id("predictions", left_out, "RMSE") == {1: 0.5}


def test_a_pipeline_predicts_biases_where_there_is_no_score(case_of: Make) -> None:
    """Item 1 has 2 and 3 in training, item 2 has 4 and 5. User 1 is not known: the bias is that of the item, 2.5."""
    train = {8: {1: 2.0, 2: 4.0}, 9: {1: 3.0, 2: 5.0}}
    case = case_of({1: {1: np.nan, 2: 4.0}}, {1: {1: 3.0, 2: 4.0}}, train)
    assert by_id("predict", case, "MAE") == pytest.approx({1: 0.5 / 2}, abs=1e-6)  # single precision
    assert by_id("predict", case_of(PREDICTED, RATED), "MAE") == pytest.approx({1: 2 / 3, 2: 2.0, 3: 1.0}, abs=1e-9)
