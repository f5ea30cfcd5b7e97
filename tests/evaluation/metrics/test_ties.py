"""Tied items: exact expectations against all orders one by one, and shared ranks worked out by hand."""

from __future__ import annotations

import itertools
import math
import re
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


# Metrics of one order, written from their definitions; a truth maps held-out items to grades, 0 if not relevant.


def good(truth: Truth) -> set[int]:
    return {item for item, grade in truth.items() if grade > 0}


def bad(truth: Truth) -> set[int]:
    return set(truth) - good(truth)


def hits(order: Order, truth: Truth, k: int) -> list[int]:
    return [place for place, item in enumerate(order[:k], start=1) if item in good(truth)]


def precisions(order: Order, truth: Truth, k: int) -> list[float]:
    return [(n + 1) / place for n, place in enumerate(hits(order, truth, k))]


def dcg(gains: list[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))


def ndcg(order: Order, truth: Truth, k: int) -> float:
    gains = [float(item in good(truth)) for item in order[:k]]
    return dcg(gains) / dcg([1.0] * min(k, len(good(truth))))


def listed_ndcg(order: Order, truth: Truth, k: int) -> float:
    gains = [1.0 if item in good(truth) else 0.0 for item in order[:k]]
    return dcg(gains) / dcg(sorted(gains, reverse=True)) if any(gains) else 0.0


def graded_ndcg(order: Order, truth: Truth, k: int) -> float:
    ideal = sorted((2**grade - 1 for grade in truth.values()), reverse=True)
    return dcg([2 ** truth.get(item, 0) - 1 for item in order[:k]]) / dcg(ideal[:k])


def f1(order: Order, truth: Truth, k: int) -> float:
    precision, recall = len(hits(order, truth, k)) / k, len(hits(order, truth, k)) / len(good(truth))
    return statistics.harmonic_mean([precision, recall])


def fallout(order: Order, truth: Truth, k: int) -> float:
    wrong = [item not in good(truth) for item in order]
    return sum(wrong[:k]) / sum(wrong) if any(wrong) else math.nan


def judged_fallout(order: Order, truth: Truth, k: int) -> float:
    return len(set(order[:k]) & bad(truth)) / len(bad(truth)) if bad(truth) else math.nan


def half_life(order: Order, truth: Truth, k: int) -> float:
    def worth(grades: list[float]) -> float:
        return sum(max(grade - 1, 0) / 2 ** (place / 2) for place, grade in enumerate(grades[:k]))

    ideal = worth(sorted(truth.values(), reverse=True))
    return 100 * worth([truth.get(item, 0) for item in order]) / ideal if ideal else math.nan


def percentile_rank(order: Order, truth: Truth, k: int) -> float:
    ranks = {item: place for place, item in enumerate(order)}
    last = len(order) - 1
    return statistics.fmean(
        100.0 if item not in ranks else 100 * ranks[item] / last if last else 50.0 for item in good(truth)
    )


def bpref(order: Order, truth: Truth, k: int) -> float:
    total, norm = 0.0, min(len(bad(truth)), len(good(truth)))
    for place, item in enumerate(order[:k]):
        if item in good(truth):
            above = min(len(set(order[:place]) & bad(truth)), len(good(truth)))
            total += 1 - above / norm if above else 1
    return total / len(good(truth))


def auc(order: Order, truth: Truth, k: int, negatives: set[int], unlisted: float) -> float:
    if not negatives:
        return math.nan
    listed = order[:k]
    place = {item: listed.index(item) if item in listed else math.inf for item in good(truth) | negatives}
    pairs = [(place[p], place[n]) for p in good(truth) for n in negatives]
    return sum(1.0 if p < n else unlisted if p == n else 0.0 for p, n in pairs) / len(pairs)


CATALOGUE = set(range(12))

REFERENCE: dict[str, Callable[[Order, Truth, int], float]] = {
    "precision@{k}": lambda o, t, k: len(hits(o, t, k)) / k,
    "precision[denominator=list]@{k}": lambda o, t, k: len(hits(o, t, k)) / min(k, len(o)),
    "recall@{k}": lambda o, t, k: len(hits(o, t, k)) / len(good(t)),
    "f1@{k}": f1,
    "f1[precision=list,recall=min-relevant]@{k}": lambda o, t, k: (
        2 * len(hits(o, t, k)) / (min(k, len(o)) + min(k, len(good(t))))
    ),
    "hit@{k}": lambda o, t, k: 1.0 if hits(o, t, k) else 0.0,
    "rr@{k}": lambda o, t, k: 1 / hits(o, t, k)[0] if hits(o, t, k) else 0.0,
    "arhr@{k}": lambda o, t, k: sum(1 / place for place in hits(o, t, k)),
    "arc@{k}": lambda o, t, k: statistics.fmean(hits(o, t, k)) if hits(o, t, k) else math.nan,
    "ap@{k}": lambda o, t, k: sum(precisions(o, t, k)) / len(good(t)),
    "ap[denominator=min-relevant]@{k}": lambda o, t, k: sum(precisions(o, t, k)) / min(k, len(good(t))),
    "ap[denominator=k]@{k}": lambda o, t, k: sum(precisions(o, t, k)) / k,
    "ap[denominator=hits]@{k}": lambda o, t, k: statistics.fmean(precisions(o, t, k) or [0.0]),
    "ndcg@{k}": ndcg,
    "ndcg[discount=none,ideal=whole]@{k}": lambda o, t, k: len(hits(o, t, k)) / len(good(t)),
    "ndcg[gain=exp2]@{k}": graded_ndcg,
    "ndcg[ideal=listed]@{k}": listed_ndcg,
    "rbp@{k}": lambda o, t, k: 0.2 * sum(0.8 ** (place - 1) for place in hits(o, t, k)),
    "rbp[gain=linear,p=0.5]@{k}": lambda o, t, k: (
        0.5 * sum(t.get(item, 0) * 0.5**place for place, item in enumerate(o[:k]))
    ),
    "half-life[alpha=3,d=1]@{k}": half_life,
    "bpref@{k}": bpref,
    "fallout@{k}": fallout,
    "fallout[negatives=judged]@{k}": judged_fallout,
    "specificity@{k}": lambda o, t, k: 1 - fallout(o, t, k),
    "auc@{k}": lambda o, t, k: auc(o, t, k, set(o) - good(t), 0.0),
    "auc[unlisted=spread]@{k}": lambda o, t, k: auc(o, t, k, set(o) - good(t), 0.5),
    "auc[ties=order,negatives=judged,unlisted=spread]@{k}": lambda o, t, k: auc(o, t, k, bad(t), 0.5),
    "auc[negatives=judged]@{k}": lambda o, t, k: auc(o, t, k, bad(t), 0.0),
}
UNCUT = {
    **{name: f"{name}@{{k}}" for name in ("rr", "ap", "ndcg", "ap[denominator=hits]", "arhr", "rbp", "bpref", "auc")},
    "half-life[alpha=3,d=1]": "half-life[alpha=3,d=1]@{k}",
    "auc[negatives=judged]": "auc[negatives=judged]@{k}",
    "auc[negatives=catalogue]": "auc[negatives=catalogue]",
    "auc[negatives=catalogue,unlisted=spread]": "auc[negatives=catalogue,unlisted=spread]",
    "arc": "arc@{k}",
    "mpr": "mpr",
}
WHOLE: dict[str, Callable[[Order, Truth, int], float]] = {
    "mpr": percentile_rank,
    "auc[negatives=catalogue]": lambda o, t, k: auc(o, t, k, CATALOGUE - good(t), 0.0),
    "auc[negatives=catalogue,unlisted=spread]": lambda o, t, k: auc(o, t, k, CATALOGUE - good(t), 0.5),
    **REFERENCE,
}

CASES = {
    "one group": ({1: 0.0, 2: 0.0, 3: 0.0, 4: 0.0, 5: 0.0}, {2: 1, 4: 3}),
    "a group across every cut-off": ({1: 9.0, 2: 5.0, 3: 5.0, 4: 5.0, 5: 5.0, 6: 1.0}, {1: 1, 3: 2, 5: 2, 6: 3}),
    "two groups": ({1: 2.0, 2: 2.0, 3: 2.0, 4: 1.0, 5: 1.0, 6: 1.0}, {3: 1, 4: 2, 5: 1}),
    "all relevant": ({1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}, {1: 1, 2: 2, 3: 1, 4: 2}),
    "a relevant item is no candidate": ({1: 3.0, 2: 1.0, 3: 1.0, 4: 1.0}, {2: 1, 9: 3}),
    "hits above, none in the group": ({1: 3.0, 2: 1.0, 3: 1.0, 4: 0.0}, {1: 1, 4: 1}),
    "no ties": ({1: 4.0, 2: 3.0, 3: 2.0, 4: 1.0}, {2: 1, 4: 2}),
    "judged and not relevant": (
        {1: 5.0, 2: 5.0, 3: 5.0, 4: 5.0, 5: 5.0, 6: 1.0, 7: 1.0},
        {1: 0, 2: 2, 3: 0, 5: 1, 6: 0, 7: 2, 8: 3, 9: 0},
    ),
    "more not relevant than relevant": ({1: 2.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 1.0}, {1: 0, 2: 0, 3: 0, 4: 1, 5: 3}),
}


def mean_over_orders(reference: Callable[[Order, Truth, int], float], case: tuple, k: int) -> float:
    """The mean over all orders for which there is a value."""
    scores, truth = case
    observed = [reference(order, truth, k) for order in all_orders(scores)]
    return statistics.fmean([value for value in observed if not math.isnan(value)] or [math.nan])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", REFERENCE)
def test_expectation_is_the_mean_over_all_orders(case, name, ranked, background, values):
    scores, truth = CASES[case]
    lists = ranked([scores], [truth], ties="expected")
    known = background([truth], len(CATALOGUE))
    for k in range(1, len(scores) + 2):
        mean = mean_over_orders(REFERENCE[name], CASES[case], k)
        assert values(name.format(k=k), lists, known) == pytest.approx([mean], abs=1e-12, nan_ok=True), k


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", UNCUT)
def test_expectation_over_the_whole_list(case, name, ranked, background, values):
    scores, truth = CASES[case]
    mean = mean_over_orders(WHOLE[UNCUT[name]], CASES[case], 99)
    results = values(name, ranked([scores], [truth], ties="expected"), background([truth], len(CATALOGUE)))
    assert results == pytest.approx([mean], abs=1e-12, nan_ok=True)


@st.composite
def tied_lists(draw):
    scores = draw(st.lists(st.integers(0, 2), min_size=1, max_size=6))
    judged = draw(st.sets(st.integers(0, 7), min_size=1, max_size=6))
    grades = {item: draw(st.integers(0, 3)) for item in sorted(judged)}
    grades[min(grades)] = draw(st.integers(1, 3))
    return {item: float(score) for item, score in enumerate(scores)}, grades, draw(st.integers(1, 7))


@settings(max_examples=40, deadline=None)
@given(case=tied_lists())
def test_expectation_lies_between_worst_and_best(case, ranked, background, values):
    scores, truth, k = case
    lists = ranked([scores], [truth], ties="expected")
    known = background([truth], len(CATALOGUE))
    for name, reference in REFERENCE.items():
        observed = [reference(order, truth, k) for order in all_orders(scores)]
        observed = [value for value in observed if not math.isnan(value)] or [math.nan]
        (value,) = values(name.format(k=k), lists, known)
        assert value == pytest.approx(statistics.fmean(observed), abs=1e-12, nan_ok=True), name
        assert math.isnan(value) or min(observed) - 1e-12 <= value <= max(observed) + 1e-12, name


@settings(max_examples=40, deadline=None)
@given(case=tied_lists())
def test_one_order_counts_as_its_definition_says(case, ranked, background, values):
    scores, truth, k = case
    order = tuple(sorted(scores, key=lambda item: (-scores[item], item)))
    lists, known = ranked([scores], [truth]), background([truth], len(CATALOGUE))
    for name, reference in REFERENCE.items():
        # A pair of equal scores counts as the order has it only where AUC is told so.
        by_order = re.sub(r"^auc(?:\[(ties=order,)?([^]]*)])?", r"auc[ties=order,\2]", name)
        expected = reference(order, truth, k)
        assert values(by_order.format(k=k), lists, known) == pytest.approx([expected], abs=1e-12, nan_ok=True), name


@settings(max_examples=40, deadline=None)
@given(order=st.permutations(range(8)), relevant=st.sets(st.integers(0, 9), min_size=1, max_size=6))
def test_without_ties_all_rules_give_the_same_bits(order, relevant, ranked, background, values):
    scores = [{item: -place for place, item in enumerate(order)}]
    truth = [{item: 1 + item % 3 for item in sorted(relevant)}]
    known = background(truth, len(CATALOGUE))
    modes = ("definite", "expected", "shared-best", "shared-mean", "shared-worst")
    for name in [name.format(k=5) for name in REFERENCE] + list(UNCUT):
        results = {str(values(name, ranked(scores, truth, ties=ties), known)[0]) for ties in modes}
        assert len(results) == 1, name


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
    uncut = ranked([{1: 9.0, 2: 5.0, 3: 5.0, 4: 5.0, 5: 1.0}], [{2: 1, 3: 1, 5: 1}], ties="expected")
    cut = replace(
        uncut,
        depth=2,
        items=uncut.items[:, :2],
        scored=uncut.scored[:, :2],
        position=np.array([2, 3, 0], dtype=np.int32),
        above=np.array([1, 1, -1], dtype=np.int32),
        tied=np.array([3, 3, 0], dtype=np.int32),
    )
    for name in ("precision@2", "rr@2", "ap@2", "ndcg@2", "hit@2", "ap[denominator=hits]@2"):
        assert values(name, cut) == values(name, uncut)


def test_every_metric_of_ranks_shares_them(ranked, background, values):
    # One item above, then four tied (places 2 to 5), two of them relevant: rank 2 (best), 3.5 or 5 (worst).
    scores, truth = [{1: 9.0, 2: 5.0, 3: 5.0, 4: 5.0, 5: 5.0}], [{3: 1, 5: 1}]
    known = background(truth, 6)
    for which, rank in (("best", 2), ("mean", 3.5), ("worst", 5)):
        lists = ranked(scores, truth, ties=f"shared-{which}")
        assert values("arc", lists) == [rank]
        assert values("arhr", lists) == pytest.approx([2 / rank])
        assert values("rbp", lists) == pytest.approx([0.2 * 2 * 0.8 ** (rank - 1)])
        assert values("mpr", lists, known) == pytest.approx([100 * (rank - 1) / 4])
        assert values("f1@4", lists) == pytest.approx([2 * 2 / (4 + 2) if rank <= 4 else 0])
        ideal = 1 + 2 ** (-1 / 4)
        assert values("half-life", lists, known) == pytest.approx([100 * 2 * 2 ** (-(rank - 1) / 4) / ideal])
        assert values("auc", lists, known) == pytest.approx([(2 / 2) / 3])  # two negatives tied, one above


def test_preferences_among_items_that_share_a_rank(ranked, values):
    # Judged non-relevant: 2, alone at rank 1, and 4, tied with the relevant 3 and 5 and the unjudged 6. R = N = 2.
    scores, truth = [{2: 9.0, 3: 5.0, 4: 5.0, 5: 5.0, 6: 5.0}], [{2: 0, 3: 1, 4: 0, 5: 1}]
    # How many judged non-relevant (n) and relevant items (r) are above each of the two, and at which rank it is.
    above = {"best": (1, 0, 2), "mean": (1.5, 0.5, 3.5), "worst": (2, 1, 5)}
    e = 0.00001
    for which, (n, r, rank) in above.items():
        lists = ranked(scores, truth, ties=f"shared-{which}")
        assert values("bpref", lists) == pytest.approx([1 - n / 2])
        inferred = 1 / rank + (rank - 1) / rank * ((r + n) / (rank - 1)) * (r + e) / (r + n + 2 * e)
        assert values("infap[unjudged=not-relevant]", lists) == pytest.approx([inferred])


def test_what_has_no_expectation_in_closed_form_is_refused(measure):
    with pytest.raises(ProtocolError, match=r'ideal = "listed" has a closed form for binary gains only.*exp2'):
        measure("ndcg[gain=exp2,ideal=listed]@5", ties__break="expected")
    with pytest.raises(ProtocolError, match="a list has no first k items"):
        measure("catalogue-coverage@5", ties__break="expected")
    with pytest.raises(ProtocolError, match=r"a quotient of two random counts .* ask for ap or bpref"):
        measure("infap@5", ties__break="expected")


def test_what_shared_ranks_do_not_say_is_refused(measure):
    with pytest.raises(ProtocolError, match='use ties = "half" or "none"'):
        measure("auc[ties=order]", ties__break="shared-mean")
    for name in ("fallout@5", "specificity[negatives=catalogue]@5"):
        with pytest.raises(ProtocolError, match='use negatives = "judged"'):
            measure(name, ties__break="shared-best")
    assert measure("fallout[negatives=judged]@5", ties__break="shared-best").cutoff == 5
