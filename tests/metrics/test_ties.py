"""Tied items: exact expectations against all orders one by one, and shared ranks worked out by hand."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import ProtocolError

Order = tuple[int, ...]
Truth = Mapping[int, float]


def all_orders(scores: Mapping[int, float]) -> Iterator[Order]:
    """Every order of the items in which higher scores come first."""
    levels = sorted(set(scores.values()), reverse=True)
    groups = [itertools.permutations([item for item in scores if scores[item] == level]) for level in levels]
    for parts in itertools.product(*groups):
        yield tuple(itertools.chain(*parts))


# Metrics of one order, written from their definitions; a truth maps held-out items to grades, all relevant.


def hits(order: Order, truth: Truth, k: int) -> list[int]:
    return [place for place, item in enumerate(order[:k], start=1) if item in truth]


def precisions(order: Order, truth: Truth, k: int) -> list[float]:
    return [(n + 1) / place for n, place in enumerate(hits(order, truth, k))]


def dcg(gains: list[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))


def listed_ndcg(order: Order, truth: Truth, k: int) -> float:
    found = [1.0 if item in truth else 0.0 for item in order[:k]]
    return dcg(found) / dcg(sorted(found, reverse=True)) if any(found) else 0.0


def graded_ndcg(order: Order, truth: Truth, k: int) -> float:
    ideal = sorted((2**grade - 1 for grade in truth.values()), reverse=True)
    return dcg([2 ** truth.get(item, 0) - 1 for item in order[:k]]) / dcg(ideal[:k])


REFERENCE: dict[str, Callable[[Order, Truth, int], float]] = {
    "precision@{k}": lambda o, t, k: len(hits(o, t, k)) / k,
    "precision[denominator=list]@{k}": lambda o, t, k: len(hits(o, t, k)) / min(k, len(o)),
    "recall@{k}": lambda o, t, k: len(hits(o, t, k)) / len(t),
    "hit@{k}": lambda o, t, k: 1.0 if hits(o, t, k) else 0.0,
    "rr@{k}": lambda o, t, k: 1 / hits(o, t, k)[0] if hits(o, t, k) else 0.0,
    "ap@{k}": lambda o, t, k: sum(precisions(o, t, k)) / len(t),
    "ap[denominator=min-relevant]@{k}": lambda o, t, k: sum(precisions(o, t, k)) / min(k, len(t)),
    "ap[denominator=k]@{k}": lambda o, t, k: sum(precisions(o, t, k)) / k,
    "ap[denominator=hits]@{k}": lambda o, t, k: statistics.fmean(precisions(o, t, k) or [0.0]),
    "ndcg@{k}": lambda o, t, k: dcg([float(i in t) for i in o[:k]]) / dcg([1.0] * min(k, len(t))),
    "ndcg[discount=none,ideal=whole]@{k}": lambda o, t, k: len(hits(o, t, k)) / len(t),
    "ndcg[gain=exp2]@{k}": graded_ndcg,
    "ndcg[ideal=listed]@{k}": listed_ndcg,
}
UNCUT = {"rr": "rr@{k}", "ap": "ap@{k}", "ndcg": "ndcg@{k}", "ap[denominator=hits]": "ap[denominator=hits]@{k}"}

CASES = {
    "one group": ({1: 0.0, 2: 0.0, 3: 0.0, 4: 0.0, 5: 0.0}, {2: 1, 4: 3}),
    "a group across every cut-off": ({1: 9.0, 2: 5.0, 3: 5.0, 4: 5.0, 5: 5.0, 6: 1.0}, {1: 1, 3: 2, 5: 2, 6: 3}),
    "two groups": ({1: 2.0, 2: 2.0, 3: 2.0, 4: 1.0, 5: 1.0, 6: 1.0}, {3: 1, 4: 2, 5: 1}),
    "all relevant": ({1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}, {1: 1, 2: 2, 3: 1, 4: 2}),
    "a relevant item is no candidate": ({1: 3.0, 2: 1.0, 3: 1.0, 4: 1.0}, {2: 1, 9: 3}),
    "hits above, none in the group": ({1: 3.0, 2: 1.0, 3: 1.0, 4: 0.0}, {1: 1, 4: 1}),
    "no ties": ({1: 4.0, 2: 3.0, 3: 2.0, 4: 1.0}, {2: 1, 4: 2}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", REFERENCE)
def test_expectation_is_the_mean_over_all_orders(case, name, ranked, values):
    scores, truth = CASES[case]
    lists = ranked([scores], [truth], ties="expected")
    for k in range(1, len(scores) + 2):
        mean = statistics.fmean(REFERENCE[name](order, truth, k) for order in all_orders(scores))
        assert values(name.format(k=k), lists) == pytest.approx([mean], abs=1e-12), k


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", UNCUT)
def test_expectation_over_the_whole_list(case, name, ranked, values):
    scores, truth = CASES[case]
    mean = statistics.fmean(REFERENCE[UNCUT[name]](order, truth, 99) for order in all_orders(scores))
    assert values(name, ranked([scores], [truth], ties="expected")) == pytest.approx([mean], abs=1e-12)


@st.composite
def tied_lists(draw):
    scores = draw(st.lists(st.integers(0, 2), min_size=1, max_size=6))
    relevant = draw(st.sets(st.integers(0, 7), min_size=1, max_size=5))
    grades = {item: draw(st.integers(1, 3)) for item in sorted(relevant)}
    return {item: float(score) for item, score in enumerate(scores)}, grades, draw(st.integers(1, 7))


@settings(max_examples=40, deadline=None)
@given(case=tied_lists())
def test_expectation_lies_between_worst_and_best(case, ranked, values):
    scores, truth, k = case
    lists = ranked([scores], [truth], ties="expected")
    for name, reference in REFERENCE.items():
        observed = [reference(order, truth, k) for order in all_orders(scores)]
        (value,) = values(name.format(k=k), lists)
        assert min(observed) - 1e-12 <= value <= max(observed) + 1e-12, name
        assert value == pytest.approx(statistics.fmean(observed), abs=1e-12), name


@settings(max_examples=40, deadline=None)
@given(order=st.permutations(range(8)), relevant=st.sets(st.integers(0, 9), min_size=1, max_size=6))
def test_without_ties_all_rules_give_the_same_bits(order, relevant, ranked, values):
    scores = [{item: -place for place, item in enumerate(order)}]
    truth = [{item: 1 + item % 3 for item in sorted(relevant)}]
    modes = ("definite", "expected", "shared-best", "shared-mean", "shared-worst")
    for name in [name.format(k=5) for name in REFERENCE] + list(UNCUT):
        assert len({values(name, ranked(scores, truth, ties=ties))[0] for ties in modes}) == 1, name


def test_large_tie_groups_neither_overflow_nor_underflow(ranked, values):
    # 3,000 tied items, the first 1,500 of them relevant. A place holds a relevant one with probability 1/2.
    scores = [dict.fromkeys(range(3000), 1.0)]
    truth = [dict.fromkeys(range(1500), 1)]
    lists = ranked(scores, truth, ties="expected")
    assert values("precision@1000", lists) == pytest.approx([0.5])
    assert values("hit@1000", lists) == pytest.approx([1.0])
    first = sum(Fraction(math.comb(3000 - j, 1499), j * math.comb(3000, 1500)) for j in range(1, 60))
    assert values("rr@1000", lists) == pytest.approx([float(first)])
    (mean_precision,) = values("ap[denominator=hits]@1000", lists)
    assert 0.5 < mean_precision < 0.51
    (share,) = values("ndcg[ideal=listed]@1000", lists)
    discounts = [1 / math.log2(place + 1) for place in range(1, 1001)]
    assert share == pytest.approx(0.5 * sum(discounts) / sum(discounts[:500]), rel=1e-3)


def test_items_that_share_a_rank(ranked, values):
    # One item above, then four tied (places 2 to 5), two of them relevant: rank 2 (best), 3.5 or 5 (worst).
    scores, truth = [{1: 9.0, 2: 5.0, 3: 5.0, 4: 5.0, 5: 5.0}], [{3: 1, 5: 1}]
    best, mean, worst = (ranked(scores, truth, ties=f"shared-{which}") for which in ("best", "mean", "worst"))
    assert values("rr", best) == [1 / 2]
    assert values("rr", mean) == [1 / 3.5]
    assert values("rr", worst) == [1 / 5]
    assert [values("recall@3", lists) for lists in (best, mean, worst)] == [[1.0], [0.0], [0.0]]
    assert [values("hit@4", lists) for lists in (best, mean, worst)] == [[1.0], [1.0], [0.0]]
    ideal = 1 + 1 / math.log2(3)
    assert values("ndcg", best) == pytest.approx([2 / math.log2(3) / ideal])
    assert values("ndcg", mean) == pytest.approx([2 / math.log2(4.5) / ideal])
    assert values("ndcg", worst) == pytest.approx([2 / math.log2(6) / ideal])


def test_average_precision_shares_both_ranks(ranked, values):
    # A hit at rank 1, then four tied with two hits. Ranks among relevant items: best 2, mean 2.5, worst 3.
    scores, truth = [{1: 9.0, 2: 5.0, 3: 5.0, 4: 5.0, 5: 5.0}], [{1: 1, 3: 1, 5: 1}]
    expected = {"best": 2 / 2, "mean": 2.5 / 3.5, "worst": 3 / 5}
    for which, precision in expected.items():
        lists = ranked(scores, truth, ties=f"shared-{which}")
        assert values("ap", lists) == pytest.approx([(1 + 2 * precision) / 3])
        assert values("ap[denominator=hits]@1", lists) == [1.0]


def test_more_than_k_items_can_share_a_rank_within_k(ranked, values):
    lists = ranked([dict.fromkeys(range(5), 1.0)], [{0: 1, 1: 1, 2: 1}], ties="shared-best")
    assert values("precision@1", lists) == [3.0]
    assert values("ap[denominator=min-relevant]@1", lists) == [3.0]
    assert values("ndcg[ideal=listed]@1", lists)[0] > 1


def test_a_group_cut_by_the_depth_of_the_ranking(ranked, values):
    # Down to depth 2 only the first of three tied hits is shown; the others still stand at places 2 to 4.
    whole = ranked([{1: 9.0, 2: 5.0, 3: 5.0, 4: 5.0, 5: 1.0}], [{2: 1, 3: 1, 5: 1}], ties="expected")
    cut = replace(
        whole,
        depth=2,
        items=whole.items[:, :2],
        scored=whole.scored[:, :2],
        position=np.array([2, 3, 0], dtype=np.int32),
        above=np.array([1, 1, -1], dtype=np.int32),
        tied=np.array([3, 3, 0], dtype=np.int32),
    )
    for name in ("precision@2", "rr@2", "ap@2", "ndcg@2", "hit@2", "ap[denominator=hits]@2"):
        assert values(name, cut) == values(name, whole)


def test_what_has_no_expectation_in_closed_form_is_refused(measure):
    with pytest.raises(ProtocolError, match=r'ideal = "listed" has a closed form for binary gains only.*exp2'):
        measure("ndcg[gain=exp2,ideal=listed]@5", ties__break="expected")
    with pytest.raises(ProtocolError, match="a list has no first k items"):
        measure("catalogue-coverage@5", ties__break="expected")
