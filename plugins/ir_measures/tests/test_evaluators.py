"""ir_measures' evaluation of known scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ir_measures
import numpy as np
import pytest

import repro.testing
from repro.errors import PluginError
from repro.plugin import Case, plugins
from repro.testing import two_users

Make = Callable[..., Case]
NAME = "ir_measures/calc"


observed, by_id = partial(repro.testing.observed, NAME), partial(repro.testing.values_by_id, NAME)


# Values of ir_measures for users 1, 2, 5 and 6; user 4 has no list and counts 0.
FIVE_USERS = [
    ("nDCG@k", 3, 0.25603181613369436, 0.6309297535714575, 0.48379340137496785),
    ("nDCG@k", 5, 0.5473133222642886, 0.6309297535714575, 0.5904964392895761),
    ("nDCG@k", 10, 0.5473133222642886, 0.6309297535714575, 0.5481538277722179),
    ("nDCG", None, 0.5473133222642886, 0.6309297535714575, 0.5481538277722179),
    ("AP@k", 3, 1 / 6, 0.5, 3 / 7),
    ("AP", None, 1 / 3, 0.5, 5 / 7),
    ("P@k", 3, 1 / 3, 1 / 3, 1.0),
    ("P@k", 10, 0.2, 0.1, 0.5),
    ("R@k", 3, 1 / 3, 1.0, 3 / 7),
    ("R@k", 5, 2 / 3, 1.0, 5 / 7),
    ("RR@k", 1, 0.0, 0.0, 1.0),
    ("RR@k", 3, 0.5, 0.5, 1.0),
    ("RR", None, 0.5, 0.5, 1.0),
    ("Success@k", 3, 1.0, 1.0, 1.0),
    ("Bpref", None, 2 / 3, 1.0, 5 / 7),
    ("SetP", None, 0.4, 0.5, 1.0),
    ("SetR", None, 2 / 3, 1.0, 5 / 7),
    ("SetF", None, 0.5, 2 / 3, 5 / 6),
]


@pytest.mark.parametrize(("measure", "k", "first", "second", "fifth"), FIVE_USERS)
def test_five_lists_that_ir_measures_was_run_on(
    measure: str, k: int | None, first: float, second: float, fifth: float, five_users: Case
) -> None:
    expected = {1: first, 2: second, 4: 0.0, 5: fifth, 6: 0.0}
    assert by_id(five_users, measure, k) == pytest.approx(expected, abs=1e-9)
    assert observed(five_users, measure, k).value == pytest.approx(sum(expected.values()) / 5, abs=1e-9)


def test_the_adapter_gives_what_a_direct_call_gives() -> None:
    """With rows instead of mappings."""
    judged = [("3", "10", 0), ("3", "2", 4), ("3", "7", 1), ("20", "33", 3), ("20", "7", 2)]
    listed = [("3", "33", 0.3), ("3", "10", 0.9), ("3", "7", 0.3), ("3", "2", 0.3), ("20", "10", 0.1), ("20", "7", 0.4)]
    qrels = [ir_measures.Qrel(*row) for row in judged]
    run = [ir_measures.ScoredDoc(*row) for row in listed]
    case = two_users()
    for measure, core_metric in plugins().evaluators()[NAME].measures.items():
        k = 2 if "@" in core_metric else None
        metric = getattr(ir_measures, measure.partition("@")[0])
        direct = ir_measures.calc([metric if k is None else metric @ k], qrels, run)
        assert observed(case, measure, k).value == next(iter(direct.aggregated.values()))
        assert by_id(case, measure, k) == {int(row.query_id): row.value for row in direct.per_query}


def rank_of(case_of: Make, scores: dict[int, float], item: int, measure: str = "RR", k: int | None = None) -> int:
    return round(1 / by_id(case_of({1: scores}, {1: {item: 1.0}}), measure, k)[1])


def test_ties_are_broken_from_last_to_first_but_with_a_cut_off_reciprocal_ranks_from_first_to_last(
    case_of: Make,
) -> None:
    """By ids as text in both: the former are trec_eval's, the latter those of MS MARCO."""
    scores = {2: 0.5, 33: 0.5, 10: 0.5, 9: 0.9, 4: 0.1}
    assert [rank_of(case_of, scores, item) for item in (9, 33, 2, 10, 4)] == [1, 2, 3, 4, 5]
    assert [rank_of(case_of, scores, item, "RR@k", 9) for item in (9, 10, 2, 33, 4)] == [1, 2, 3, 4, 5]


def test_only_reciprocal_ranks_with_a_cut_off_use_double_precision(case_of: Make) -> None:
    scores = {1: 0.50000001, 2: 0.5}
    assert rank_of(case_of, scores, 1) == 2
    assert rank_of(case_of, scores, 1, "RR@k", 9) == 1


def test_accuracy_is_of_relevant_items_listed_against_all_others_listed(case_of: Make) -> None:
    """User 1: half of the others are below the second of three; user 2: none are below the last of two; user 3 has no
    list and user 4 no relevant item in it: both are left out. With a cut-off of 2, nothing is below the second."""
    scores = {1: {1: 0.9, 2: 0.5, 3: 0.4}, 2: {1: 0.9, 2: 0.5}, 3: {}, 4: {1: 0.9}}
    case = case_of(scores, {1: {2: 1.0}, 2: {2: 1.0}, 3: {1: 1.0}, 4: {2: 1.0}})
    assert by_id(case, "Accuracy") == {1: 0.5, 2: 0.0}
    assert observed(case, "Accuracy").value == 0.25
    assert by_id(case, "Accuracy@k", 2) == {1: 0.0, 2: 0.0}


def test_accuracy_refuses_lists_of_relevant_items_only(case_of: Make) -> None:
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        observed(case_of({1: {1: 0.9, 2: 0.5}}, {1: {1: 1.0, 2: 1.0}}), "Accuracy")


def test_users_without_relevant_items_or_lists_count_0_in_the_average(case_of: Make) -> None:
    scores = {1: {1: 0.9, 2: 0.5}, 2: {1: 0.9, 2: 0.5}, 3: {}}
    case = case_of(scores, {1: {2: 0.0}, 2: {1: 4.0}, 3: {1: 5.0}})
    for measure, k in (("nDCG", None), ("AP", None), ("RR", None), ("RR@k", 2), ("R@k", 2)):
        assert by_id(case, measure, k) == {1: 0.0, 2: 1.0, 3: 0.0}
        assert observed(case, measure, k).value == pytest.approx(1 / 3, abs=1e-12)


def test_infinite_scores_are_highest_and_lowest(case_of: Make) -> None:
    scores = {1: np.inf, 2: 0.0, 3: -np.inf}
    assert [rank_of(case_of, scores, item) for item in (1, 2, 3)] == [1, 2, 3]
    assert [rank_of(case_of, scores, item, "RR@k", 9) for item in (1, 2, 3)] == [1, 2, 3]


def test_the_only_user_has_no_list(case_of: Make) -> None:
    assert by_id(case_of({1: {}}, {1: {1: 1.0}}), "nDCG@k", 3) == {1: 0.0}
