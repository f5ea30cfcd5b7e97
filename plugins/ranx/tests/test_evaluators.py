"""ranx's evaluation of known scores.

It compiles its code when it is first used, which takes minutes, and part of a minute in each later process: all of
these tests are slow.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
import pytest
import ranx

from repro.errors import PluginError
from repro.plugin import Case, plugins
from repro.testing import observed, two_users, values_by_id

pytestmark = pytest.mark.slow
Make = Callable[..., Case]
PLAIN, COMPARABLE = "ranx/evaluate", "ranx/evaluate-comparable"


# Values of ranx for users 1, 2, 5 and 6; user 4 has no list and counts 0.
FIVE_USERS = [
    ("ndcg@k", 3, 0.25603181613369436, 0.6309297535714575, 0.48379340137496785),
    ("ndcg@k", 5, 0.5473133222642886, 0.6309297535714575, 0.5904964392895761),
    ("ndcg@k", 10, 0.5473133222642886, 0.6309297535714575, 0.5481538277722179),
    ("ndcg", None, 0.5473133222642886, 0.6309297535714575, 0.5481538277722179),
    ("ndcg_burges@k", 3, 0.12296596988728792, 0.6309297535714575, 0.3339269695160876),
    ("ndcg_burges@k", 5, 0.4946884435211788, 0.6309297535714575, 0.41044272462458276),
    ("map@k", 3, 1 / 6, 0.5, 3 / 7),
    ("map", None, 1 / 3, 0.5, 5 / 7),
    ("precision@k", 3, 1 / 3, 1 / 3, 1.0),
    ("precision@k", 10, 0.2, 0.1, 0.5),
    ("recall@k", 3, 1 / 3, 1.0, 3 / 7),
    ("recall", None, 2 / 3, 1.0, 5 / 7),
    ("mrr@k", 3, 0.5, 0.5, 1.0),
    ("mrr", None, 0.5, 0.5, 1.0),
    ("hit_rate@k", 3, 1.0, 1.0, 1.0),
    ("f1@k", 3, 1 / 3, 0.5, 0.6),
]


@pytest.mark.parametrize(("measure", "k", "first", "second", "fifth"), FIVE_USERS)
def test_five_lists_that_ranx_was_run_on(
    measure: str, k: int | None, first: float, second: float, fifth: float, five_users: Case
) -> None:
    expected = {1: first, 2: second, 4: 0.0, 5: fifth, 6: 0.0}
    assert values_by_id(COMPARABLE, five_users, measure, k) == pytest.approx(expected, abs=1e-9)
    assert observed(COMPARABLE, five_users, measure, k).value == pytest.approx(sum(expected.values()) / 5, abs=1e-9)
    with pytest.raises(PluginError, match="query ids do not match"):
        observed(PLAIN, five_users, measure, k)


def test_measures_by_hand(case_of: Make) -> None:
    """A 3 at rank 2 of three. Without a cut-off, precision divides by the length of the list; persistence weighs by the
    rating itself."""
    case = case_of({1: {1: 0.9, 2: 0.5, 3: 0.1}}, {1: {2: 3.0, 7: 1.0}})
    assert values_by_id(PLAIN, case, "precision")[1] == pytest.approx(1 / 3, abs=1e-12)
    assert values_by_id(PLAIN, case, "f1")[1] == pytest.approx(0.4, abs=1e-12)
    assert values_by_id(PLAIN, case, "rbp.95")[1] == pytest.approx(0.05 * 0.95 * 3, abs=1e-12)


def test_binary_preference_has_no_number_where_nothing_is_judged_not_relevant(case_of: Make) -> None:
    """0 / 0. With an item that was judged 0 below the relevant one, it is 1; above it, 0."""
    scores = {1: {1: 0.9, 2: 0.5, 3: 0.1}}
    assert np.isnan(values_by_id(PLAIN, case_of(scores, {1: {1: 1.0}}), "bpref")[1])
    assert values_by_id(PLAIN, case_of(scores, {1: {1: 1.0, 2: 0.0}}), "bpref") == {1: 1.0}
    assert values_by_id(PLAIN, case_of(scores, {1: {2: 1.0, 1: 0.0}}), "bpref") == {1: 0.0}


def test_the_adapter_gives_what_a_direct_call_with_mappings_gives() -> None:
    judgements = {"3": {"10": 0, "2": 4, "7": 1}, "20": {"33": 3, "7": 2}}
    listed = {"3": {"33": 0.3, "10": 0.9, "7": 0.3, "2": 0.3}, "20": {"10": 0.1, "7": 0.4}}
    case = two_users()
    for measure, metric in plugins().evaluators()[PLAIN].measures.items():
        k = 2 if "@" in metric else None
        name = measure.replace("@k", "@2")
        run = ranx.Run(listed)
        mean = ranx.evaluate(ranx.Qrels(judgements), run, name)
        for evaluator in (PLAIN, COMPARABLE):
            assert observed(evaluator, case, measure, k).value == pytest.approx(mean, abs=1e-15, nan_ok=True)
            expected = {int(user): value for user, value in run.scores[name].items()}
            assert values_by_id(evaluator, case, measure, k) == pytest.approx(expected, abs=1e-15, nan_ok=True)


def place(case_of: Make, scores: dict[int, float], item: int, order: list[int] | None = None) -> int:
    return round(1 / values_by_id(PLAIN, case_of({1: scores}, {1: {item: 1.0}}, order=order), "mrr")[1])


def test_few_tied_items_stay_in_the_order_of_presentation(case_of: Make) -> None:
    scores = {1: 0.5, 2: 0.5, 33: 0.5, 10: 0.5, 4: 0.9}
    assert [place(case_of, scores, item, [33, 10, 4, 2, 1]) for item in (4, 33, 10, 2, 1)] == [1, 2, 3, 4, 5]


def test_many_tied_items_do_not(case_of: Make) -> None:
    scores = dict.fromkeys(range(1, 25), 0.5)
    assert [place(case_of, scores, item) for item in range(1, 25)] != list(range(1, 25))


def test_scores_that_are_no_numbers_come_last_and_infinite_ones_where_they_belong(case_of: Make) -> None:
    assert [place(case_of, {1: np.nan, 2: 0.9, 3: 0.7}, item) for item in (2, 3, 1)] == [1, 2, 3]
    assert [place(case_of, {1: -np.inf, 2: np.nan, 3: 0.0, 4: np.inf}, item) for item in (4, 3, 1, 2)] == [1, 2, 3, 4]


def test_ratings_lose_what_is_not_whole(case_of: Make) -> None:
    """A 0.5 becomes 0, and is not relevant; a 2.9 becomes 2."""
    case = case_of({1: {1: 0.9, 2: 0.5}}, {1: {1: 0.5, 2: 2.9}})
    assert values_by_id(PLAIN, case, "precision") == {1: 0.5}
    assert values_by_id(PLAIN, case, "rbp.95")[1] == pytest.approx(0.05 * 0.95 * 2, abs=1e-12)


def test_a_user_without_relevant_items_counts_nothing_and_is_averaged(case_of: Make) -> None:
    case = case_of({1: {1: 0.9, 2: 0.5}, 2: {1: 0.9, 2: 0.5}}, {1: {2: 0.0}, 2: {1: 4.0}})
    assert observed(PLAIN, case, "ndcg").value == 0.5
    assert observed(PLAIN, case, "recall@k", 3).value == 0.5


def test_nobody_has_a_list(case_of: Make) -> None:
    case = case_of({1: {}}, {1: {1: 1.0}})
    assert values_by_id(COMPARABLE, case, "ndcg") == {1: 0.0}
    with pytest.raises(PluginError, match="query ids do not match"):
        observed(PLAIN, case, "ndcg")


def test_the_threads_of_compiled_code_are_given_back(case_of: Make) -> None:
    before = numba.get_num_threads()
    numba.set_num_threads(2)
    try:
        observed(PLAIN, case_of({1: {1: 0.9}}, {1: {1: 1.0}}), "ndcg")
        assert numba.get_num_threads() == 2
    finally:
        numba.set_num_threads(before)
