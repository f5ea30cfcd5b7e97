"""implicit's own evaluation of known scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from implicit.cpu.als import AlternatingLeastSquares
from implicit.evaluation import AUC_at_k, ranking_metrics_at_k
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from repro.errors import PluginError
from repro.plugin import Case, plugins
from repro.testing import observed
from repro.testing.cases import FIVE_LISTS, FIVE_TESTS

Make = Callable[..., Case]
ALL_AT_ONCE, EACH = "implicit/ranking_metrics_at_k", "implicit/functions_at_k"
SAME = {"precision": "precision_at_k", "map": "mean_average_precision_at_k", "ndcg": "ndcg_at_k", "auc": "AUC_at_k"}


def measured(case: Case, k: int, name: str = ALL_AT_ONCE) -> dict[str, float]:
    """Every measure of an evaluator; implicit has no values of users."""
    answers = {measure: observed(name, case, measure, k) for measure in plugins().evaluators()[name].measures}
    assert all(answer.per_user is None for answer in answers.values())
    return {measure: float(answer.value or 0.0) for measure, answer in answers.items()}


def ranked(best: Sequence[int], relevant: Mapping[int, float]) -> dict[int, float]:
    """Scores of items 0 to 12: first those of the list, then the irrelevant ones, then the other relevant ones."""
    others = sorted(set(range(13)) - set(best), key=lambda item: (item in relevant, item))
    return {item: 13.0 - position for position, item in enumerate([*best, *others])}


@pytest.mark.parametrize(
    ("k", "precision", "ap", "ndcg", "auc"),
    [
        (1, 0.2, 0.2, 0.2, 0.47852813852813847),
        (3, 0.5, 0.3333333333333333, 0.38540233290746456, 0.5872510822510824),
        (5, 0.6666666666666666, 0.36666666666666664, 0.4258238022075741, 0.6043073593073592),
        (10, 0.5714285714285714, 0.3095238095238095, 0.38791612827662775, 0.47670995670995675),
    ],
)
def test_five_lists_that_implicit_was_run_on(
    k: int, precision: float, ap: float, ndcg: float, auc: float, case_of: Make
) -> None:
    case = case_of({user: ranked(FIVE_LISTS[user], FIVE_TESTS[user]) for user in FIVE_TESTS}, FIVE_TESTS)
    expected = {"precision": precision, "map": ap, "ndcg": ndcg, "auc": auc}
    assert measured(case, k) == pytest.approx(expected, abs=1e-9)
    assert measured(case, k, EACH) == pytest.approx({SAME[name]: value for name, value in expected.items()}, abs=1e-9)


@pytest.mark.parametrize(("k", "auc"), [(1, 1 / 3), (2, 0.5), (3, 5 / 12), (4, 0.5), (5, 0.5)])
def test_area_with_unseen_items_spread_evenly(k: int, auc: float, case_of: Make) -> None:
    """Ranked 1, 2, 3, 4, 0; 2 and 4 are held out: 3 of 6 pairs are in order, and which shows only from k = 4 on."""
    case = case_of({1: {1: 5.0, 2: 4.0, 3: 3.0, 4: 2.0, 0: 1.0}}, {1: {2: 5.0, 4: 5.0}})
    assert measured(case, k)["auc"] == pytest.approx(auc, abs=1e-9)


def test_precision_is_a_share_of_what_could_have_been_hit(case_of: Make) -> None:
    """One user has one relevant item, hit; the other three, none hit: 1 of min(2, 1) + min(2, 3), and no mean."""
    scores = {1: dict(enumerate([4.0, 3.0, 2.0, 1.0, 0.5])), 2: dict(enumerate([4.0, 3.0, 2.0, 1.0, 0.5]))}
    case = case_of(scores, {1: {0: 5.0}, 2: {2: 5.0, 3: 5.0, 4: 5.0}})
    assert measured(case, 2)["precision"] == pytest.approx(1 / 3, abs=1e-12)


def test_the_adapter_gives_what_a_direct_call_gives(case_of: Make) -> None:
    """Factors written by hand: users 1 and 2, columns 30, 2, 10 and 7; user 2 has liked 10."""
    with threadpool_limits(1, "blas"):  # otherwise it warns
        model = AlternatingLeastSquares(factors=2, dtype=np.float64)
    model.user_factors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    model.item_factors = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.7], [0.4, 0.3]])
    train = csr_matrix(np.array([[0, 0, 0, 0], [0, 0, 4, 0], [3, 3, 0, 3]], dtype=np.float64))
    test = csr_matrix(np.array([[0, 5, 2, 0], [4, 0, 0, 5], [0, 0, 0, 0]], dtype=np.float64))
    case = case_of(
        {1: {30: 0.9, 2: 0.2, 10: 0.5, 7: 0.4}, 2: {30: 0.1, 2: 0.8, 10: 0.7, 7: 0.3}},
        {1: {2: 5.0, 10: 2.0}, 2: {30: 4.0, 7: 5.0}},
        {2: {10: 4.0}, 9: {30: 3.0, 2: 3.0, 7: 3.0}},
        order=[30, 2, 10, 7],
    )
    for k in (1, 2, 3, 4):
        assert measured(case, k) == ranking_metrics_at_k(model, train, test, K=k, show_progress=False)
        assert measured(case, k, EACH)["AUC_at_k"] == AUC_at_k(model, train, test, K=k, show_progress=False)


def ndcg(case: Case, k: int) -> float:
    return measured(case, k)["ndcg"]


SECOND, THIRD = 1 / np.log2(3), 0.5


def test_training_items_come_after_all_others_and_are_not_left_out(case_of: Make) -> None:
    """Of items 1, 2 and 3 the user has 1, which scores highest: 2, 3, 1. Infinitely low scores are lower still."""
    training = {1: {1: 5.0}, 9: {1: 3.0, 2: 3.0, 3: 3.0}}
    scores = {1: 0.9, 2: 0.5, 3: 0.4}
    positions = [ndcg(case_of({1: scores}, {1: {item: 5.0}}, training), 3) for item in (2, 3, 1)]
    assert positions == pytest.approx([1.0, SECOND, THIRD])
    low = {**scores, 3: -np.inf}
    positions = [ndcg(case_of({1: low}, {1: {item: 5.0}}, training), 3) for item in (2, 1, 3)]
    assert positions == pytest.approx([1.0, SECOND, THIRD])


def test_ties_are_broken_by_a_heap(case_of: Make) -> None:
    """In a list of all items, later columns come first; in one that is cut, the first columns may stay in it."""

    def order_of(scores: dict[int, float], k: int, order: list[int] | None = None) -> list[int]:
        values = {item: ndcg(case_of({1: scores}, {1: {item: 5.0}}, order=order), k) for item in scores}
        return sorted((item for item in values if values[item]), key=lambda item: -values[item])

    assert order_of({1: 1.0, 2: 1.0, 3: 1.0}, 3) == [3, 2, 1]
    assert order_of({1: 1.0, 2: 1.0, 3: 1.0}, 3, [2, 3, 1]) == [1, 3, 2]
    assert order_of({1: 1.0, 2: 1.0, 3: 1.0}, 2) == [2, 1]
    assert order_of({1: 1.0, 2: 1.0, 3: 2.0}, 2) == [3, 2]


def test_a_score_of_nan_comes_first_and_disturbs_the_order_of_the_others(case_of: Make) -> None:
    scores = dict(enumerate([0.9, np.nan, 0.7, 0.6, 0.5]))
    values = [ndcg(case_of({1: scores}, {1: {item: 5.0}}), 5) for item in (1, 0, 3, 4, 2)]
    assert values == pytest.approx(list(1 / np.log2(np.arange(2, 7))))


def test_nan_of_one_user_does_not_change_the_other(case_of: Make) -> None:
    held_out = {1: {1: 5.0}, 2: {1: 5.0}}
    case = case_of({1: {1: 0.9, 2: 0.5}, 2: {1: np.nan, 2: np.inf}}, held_out)
    assert ndcg(case, 1) == 0.5 + 0.5 * ndcg(case_of({2: {1: np.nan, 2: np.inf}}, {2: held_out[2]}), 1)


def test_any_held_out_row_is_relevant_whatever_its_rating(case_of: Make) -> None:
    case = case_of({1: {1: 3.0, 2: 2.0, 3: 0.5, 4: 1.0}}, {1: {1: 0.0, 2: 0.5, 3: 5.0}})
    expected = {"precision": 2 / 3, "map": 2 / 3, "ndcg": 0.7653606369886217, "auc": 2 / 3}
    assert measured(case, 3) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("k", "precision", "ap", "ndcg"),
    [
        (4, 1.0, 0.5, 0.6309297535714575),
        (6, 3.0, 1.4, 1.3739897479140215),
        (10, 7.0, 3.963095238095238, 2.6128827800149526),
    ],
)
def test_short_lists_are_filled_with_the_first_item(
    k: int, precision: float, ap: float, ndcg: float, case_of: Make
) -> None:
    """The filling counts as hits if that item is held out."""
    scores = {7: 0.5, 9: 0.9, 10: 0.4, 11: 0.3}
    values = measured(case_of({1: scores, 2: scores}, {1: {7: 4.0}, 2: {7: 2.0}}), k)
    assert values == pytest.approx({"precision": precision, "map": ap, "ndcg": ndcg, "auc": 2 / 3}, abs=1e-9)
    later = measured(case_of({1: scores}, {1: {7: 4.0}}, order=[9, 7, 10, 11]), k)
    assert (later["precision"], later["ndcg"]) == pytest.approx((1.0, SECOND))


def test_a_user_to_whom_every_item_is_relevant_is_refused(case_of: Make) -> None:
    """The area divides by the number of items that are not relevant, and all measures come from one call."""
    case = case_of({1: {1: 0.9, 2: 0.5}}, {1: {1: 5.0, 2: 4.0}})
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        measured(case, 1)
