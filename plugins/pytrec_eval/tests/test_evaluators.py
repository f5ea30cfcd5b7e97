"""trec_eval's evaluation of known scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import pytrec_eval

import repro.testing
from repro.errors import PluginError
from repro.plugin import Case, plugins
from repro.testing import two_users

Make = Callable[..., Case]
NAME = "pytrec_eval/RelevanceEvaluator"


observed, by_id = partial(repro.testing.observed, NAME), partial(repro.testing.values_by_id, NAME)


# Values of pytrec_eval for users 1, 2, 5 and 6; user 4 has no list and no value.
FIVE_USERS = [
    ("P", 3, 1 / 3, 1 / 3, 1.0, 0.0),
    ("P", 10, 0.2, 0.1, 0.5, 0.0),
    ("recall", 3, 1 / 3, 1.0, 3 / 7, 0.0),
    ("recall", 10, 2 / 3, 1.0, 5 / 7, 0.0),
    ("success", 1, 0.0, 0.0, 1.0, 0.0),
    ("success", 5, 1.0, 1.0, 1.0, 0.0),
    ("map_cut", 3, 1 / 6, 0.5, 3 / 7, 0.0),
    ("ndcg_cut", 3, 0.25603181613369436, 0.6309297535714575, 0.48379340137496785, 0.0),
    ("ndcg_cut", 5, 0.5473133222642886, 0.6309297535714575, 0.5904964392895761, 0.0),
    ("ndcg_cut", 10, 0.5473133222642886, 0.6309297535714575, 0.5481538277722179, 0.0),
    ("ndcg", None, 0.5473133222642886, 0.6309297535714575, 0.5481538277722179, 0.0),
    ("map", None, 1 / 3, 0.5, 5 / 7, 0.0),
    ("recip_rank", None, 0.5, 0.5, 1.0, 0.0),
    ("bpref", None, 2 / 3, 1.0, 5 / 7, 0.0),
    ("set_P", None, 0.4, 0.5, 1.0, 0.0),
    ("set_recall", None, 2 / 3, 1.0, 5 / 7, 0.0),
    ("set_F", None, 0.5, 2 / 3, 5 / 6, 0.0),
]


@pytest.mark.parametrize(("measure", "k", "first", "second", "fifth", "sixth"), FIVE_USERS)
def test_five_lists_that_pytrec_eval_was_run_on(
    measure: str, k: int | None, first: float, second: float, fifth: float, sixth: float, five_users: Case
) -> None:
    expected = {1: first, 2: second, 5: fifth, 6: sixth}
    assert by_id(five_users, measure, k) == pytest.approx(expected, abs=1e-9)
    assert observed(five_users, measure, k).value == pytest.approx(sum(expected.values()) / 4, abs=1e-9)


def test_the_adapter_gives_what_a_direct_call_gives() -> None:
    judgements = {"3": {"10": 0, "2": 4, "7": 1}, "20": {"33": 3, "7": 2}}
    run = {"3": {"33": 0.3, "10": 0.9, "7": 0.3, "2": 0.3}, "20": {"10": 0.1, "7": 0.4}}
    case = two_users()
    measures = plugins().evaluators()[NAME].measures
    for measure, metric in measures.items():
        k = 2 if "@" in metric else None
        name = measure if k is None else f"{measure}_2"
        direct = pytrec_eval.RelevanceEvaluator(judgements, {name}).evaluate(run)
        assert by_id(case, measure, k) == {3: direct["3"][name], 20: direct["20"][name]}
        assert observed(case, measure, k).value == (direct["3"][name] + direct["20"][name]) / 2


def rank_of(case_of: Make, scores: dict[int, float], item: int) -> int:
    """The rank of an item."""
    return round(1 / by_id(case_of({1: scores}, {1: {item: 1.0}}), "recip_rank")[1])


def test_ties_are_broken_by_id_as_text_from_last_to_first(case_of: Make) -> None:
    scores = {2: 0.5, 33: 0.5, 10: 0.5, 9: 0.9, 4: 0.1}
    assert [rank_of(case_of, scores, item) for item in (9, 33, 2, 10, 4)] == [1, 2, 3, 4, 5]


def test_scores_are_compared_in_single_precision(case_of: Make) -> None:
    assert rank_of(case_of, {1: 0.50000001, 2: 0.5}, 1) == 2
    assert rank_of(case_of, {1: 0.5000001, 2: 0.5}, 1) == 1


def test_the_rank_of_a_score_of_nan_depends_on_the_ids(case_of: Make) -> None:
    """NaN is neither higher nor lower than any other score, and so ties with all of them."""
    assert rank_of(case_of, {1: 0.9, 2: np.nan}, 2) == 1
    assert rank_of(case_of, {1: np.nan, 2: 0.9}, 1) == 2


def test_infinite_scores_are_highest_and_lowest(case_of: Make) -> None:
    assert [rank_of(case_of, {1: np.inf, 2: 0.0, 3: -np.inf}, item) for item in (1, 2, 3)] == [1, 2, 3]


def test_a_user_without_relevant_items_counts_0_in_the_average(case_of: Make) -> None:
    case = case_of({1: {1: 0.9, 2: 0.5}, 2: {1: 0.9, 2: 0.5}}, {1: {1: 0.0, 2: 0.0}, 2: {1: 1.0}})
    for measure in ("map", "ndcg", "recip_rank", "bpref", "infAP", "set_recall"):
        assert by_id(case, measure)[1] == 0.0
    assert observed(case, "map").value == 0.5


def test_an_item_rated_1_is_relevant_and_its_rating_is_its_gain(case_of: Make) -> None:
    """Listed are a 1 and then a 3: (1 + 3 / log2 3) / (3 + 1 / log2 3)."""
    case = case_of({1: {1: 0.9, 2: 0.5}}, {1: {1: 1.0, 2: 3.0}})
    assert by_id(case, "ndcg_cut", 2)[1] == pytest.approx((1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3)), abs=1e-12)
    assert by_id(case, "P", 1)[1] == 1.0


def test_precision_divides_by_k_where_the_list_is_shorter(case_of: Make) -> None:
    assert by_id(case_of({1: {1: 0.9}}, {1: {1: 1.0}}), "P", 5)[1] == pytest.approx(0.2)


def test_without_lists_the_mean_is_nan(case_of: Make) -> None:
    with pytest.warns(RuntimeWarning):
        answer = observed(case_of({1: {}}, {1: {1: 1.0}}), "map")
    assert answer.value is not None
    assert np.isnan(answer.value)
    assert answer.per_user == {}


def test_ratings_that_are_not_whole_are_refused(case_of: Make) -> None:
    with pytest.raises(PluginError, match="Expected relevance to be integer"):
        observed(case_of({1: {1: 0.9}}, {1: {1: 2.5}}), "map")
