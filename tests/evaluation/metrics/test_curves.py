"""GROC, CROC and the area under the precision-recall curve: by hand, by brute force, against scikit-learn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score

from repro.errors import DataError, ProtocolError
from repro.evaluation.metrics.shared import curves
from repro.evaluation.ranking.ranked import Ranked

Lists = Sequence[Mapping[int, float]]


@pytest.fixture(scope="session")
def scored(ranked: Callable[..., Ranked]) -> Callable[..., Ranked]:
    """Ranked lists with the score of each listed item."""

    def made(scores: Lists, truth: Lists, **options: Any) -> Ranked:
        lists = ranked(scores, truth, **options)
        table = np.full(lists.items.shape, np.nan)
        for n, given_scores in enumerate(scores):
            table[n, : len(given_scores)] = sorted(given_scores.values(), reverse=True)
        return replace(lists, scores=table)

    return made


@pytest.fixture(scope="session")
def number(measure, background, scored) -> Callable[..., float]:
    """The number of a metric, of lists that may be cut into blocks."""

    def computed(name: str, scores: Lists, truth: Lists, *, size: int = 10**6, ties: str = "definite") -> float:
        parsed = measure(name, ties__break="item-asc" if ties == "definite" else ties)
        known = background(truth, 60)
        blocks = [
            parsed.of_lists(scored(scores[at : at + size], truth[at : at + size], ties=ties), known)
            for at in range(0, len(scores), size)
        ]
        merged = blocks[:1]
        for block in blocks[1:]:  # as a study does: joined as they come
            merged = [parsed.metric.merge([merged[0], block])]
        return parsed.of_collection(merged, known)

    return computed


# User 0 has one relevant item of four, user 1 two of three.
SCORES = [{1: 9.0, 2: 7.0, 3: 5.0, 4: 3.0}, {1: 8.0, 2: 6.0, 3: 4.0}]
TRUTH = [{2: 1.0}, {1: 1.0, 3: 1.0}]


def test_groc_by_hand(number):
    # In order of score: 9 other, 8 relevant, 7 relevant, 6 other, 5 other, 4 relevant, 3 other.
    # Above others: 8 wins 3 of 4, 7 wins 3, 4 wins 1.
    assert number("groc", SCORES, TRUTH) == 7 / 12


def test_groc_counts_equal_scores_half_within_a_list_and_across_lists(number):
    scores = [{1: 2.0, 2: 2.0}, {1: 2.0, 2: 1.0}]
    # Relevant: 2 of user 0. Others: 2 (half), 2 of another user (half), 1 (won).
    assert number("groc", scores, [{1: 1.0}, {}]) == 2 / 3
    for rule in ("expected", "shared-mean", "shared-best"):
        assert number("groc", scores, [{1: 1.0}, {}], ties=rule) == 2 / 3


def test_groc_takes_missing_scores_where_the_rule_put_them(number):
    last = [{1: 1.0, 2: -np.inf}, {1: -np.inf, 2: 0.0}]
    # Relevant: both items without a score; they tie with each other's users, and lose to every score.
    assert number("groc", last, [{2: 1.0}, {}]) == (0 + 0.5 + 0) / 3


def test_relevant_items_in_no_list_are_below_every_pair(number):
    scores, truth = [{1: 3.0, 2: 2.0, 3: 1.0}], [{1: 1.0, 9: 1.0}]
    assert number("groc", scores, truth) == 1 / 2
    assert number("croc", scores, truth) == 1 / 2
    assert number("pr-auc", scores, truth) == 1 / 2
    assert number("pr-auc[join=lengths]", scores, truth) == 1 / 2


def test_croc_by_hand(number):
    # n     hits  false alarms   of 3 relevant and 4 others
    # 1     1     1
    # 2     2     2
    # 3     3     3
    # 4     3     4   (user 1 keeps its three)
    by_hand = (1 * (0 + 1) + 1 * (1 + 2) + 1 * (2 + 3) + 1 * (3 + 3)) / (2 * 3 * 4)
    assert number("croc", SCORES, TRUTH) == by_hand
    # Perfect lists: hits 2, 3, 3, 3; false alarms 0, 1, 3, 4.
    perfect = (0 * 2 + 1 * (2 + 3) + 2 * (3 + 3) + 1 * (3 + 3)) / (2 * 3 * 4)
    assert perfect < 1
    assert number("croc[normalised=perfect]", SCORES, TRUTH) == pytest.approx(by_hand / perfect, abs=1e-15)


def test_croc_of_mean_rates_by_hand(number):
    # True positive rates at n = 1..4: user 0: 0 1 1 1; user 1: 1/2 1/2 1 1. Means 1/4 3/4 1 1.
    # False positive rates: user 0: 1/3 1/3 2/3 1; user 1: 0 1 1 1. Means 1/6 2/3 5/6 1.
    x, y = [0, 1 / 6, 2 / 3, 5 / 6, 1], [0, 1 / 4, 3 / 4, 1, 1]
    assert number("croc[rates=means]", SCORES, TRUTH) == pytest.approx(auc(x, y), abs=1e-15)
    # Perfect lists. User 0: tpr 1, fpr 0 1/3 2/3 1. User 1: tpr 1/2 1 1 1, fpr 0 0 1 1.
    x, y = [0, 0, 1 / 6, 5 / 6, 1], [0, 3 / 4, 1, 1, 1]
    area = number("croc[normalised=perfect,rates=means]", SCORES, TRUTH)
    assert area == pytest.approx(number("croc[rates=means]", SCORES, TRUTH) / auc(x, y), abs=1e-15)


def test_perfect_lists_have_a_normalised_croc_of_1(number):
    scores = [{1: 5.0, 2: 4.0, 3: 3.0}, {1: 1.0, 2: 2.0}, {7: 1.0, 8: 0.5, 9: 0.25, 3: 0.1}]
    truth = [{1: 1.0, 2: 1.0}, {2: 1.0}, {7: 1.0, 8: 1.0, 9: 1.0}]
    assert number("croc", scores, truth) < 1
    for rates in ("totals", "means"):
        assert number(f"croc[normalised=perfect,rates={rates}]", scores, truth) == 1


def test_lists_of_one_length_in_no_order_have_a_croc_of_one_half(number):
    scores = [dict.fromkeys(range(7), 1.0)] * 3
    truth = [{1: 1.0}, {2: 1.0, 3: 1.0, 5: 1.0}, {0: 1.0, 6: 1.0}]
    for name in ("croc", "croc[rates=means]"):
        assert number(name, scores, truth, ties="expected") == pytest.approx(0.5, abs=1e-15)


def test_precision_recall_areas_by_hand(number):
    # Pooled, in order of score: other, relevant, relevant, other, other, relevant, other.
    assert number("pr-auc", SCORES, TRUTH) == pytest.approx((1 / 2 + 2 / 3 + 3 / 6) / 3, abs=1e-15)
    lines = ((0 + 1 / 2) / 2 + (1 / 2 + 2 / 3) / 2 + (2 / 5 + 3 / 6) / 2) / 3
    assert number("pr-auc[interpolation=trapezoid]", SCORES, TRUTH) == pytest.approx(lines, abs=1e-15)
    # Lengths. Precision at n = 1..4: user 0: 0 1/2 1/3 1/4; user 1: 1 1/2 2/3 2/3 (it keeps what it has).
    recalls, precisions = [1 / 4, 3 / 4, 1, 1], [1 / 2, 1 / 2, 1 / 2, 11 / 24]
    steps = sum(np.diff([0, *recalls]) * precisions)
    assert number("pr-auc[join=lengths]", SCORES, TRUTH) == pytest.approx(steps, abs=1e-15)
    lines = auc([0, *recalls], [1, *precisions])
    area = number("pr-auc[join=lengths,interpolation=trapezoid]", SCORES, TRUTH)
    assert area == pytest.approx(lines, abs=1e-15)
    # Users. User 0: from precision 0 to 1/2. User 1: from 1 to 1, and from 1/2 to 2/3.
    lines = ((0 + 1 / 2) / 2 + ((1 + 1) / 2 + (1 / 2 + 2 / 3) / 2) / 2) / 2
    assert number("pr-auc[join=users,interpolation=trapezoid]", SCORES, TRUTH) == pytest.approx(lines, abs=1e-15)


def test_empty_lists_and_users_without_relevant_items(number):
    scores, truth = [*SCORES, {}, {1: 10.0}], [*TRUTH, {5: 1.0}, {}]
    # One relevant item more that is never found, and one more other pair above all.
    assert number("groc", scores, truth) == 7 / (4 * 5)
    assert number("pr-auc", scores, truth) == pytest.approx((1 / 3 + 2 / 4 + 3 / 7) / 4, abs=1e-15)
    # Hits 1 2 3 3, false alarms 2 3 4 5.
    assert number("croc", scores, truth) == (2 * 1 + 1 * 3 + 1 * 5 + 1 * 6) / (2 * 4 * 5)
    areas = (1 / 4, (1 + 7 / 12) / 2, 0)
    area = number("pr-auc[join=users,interpolation=trapezoid]", scores, truth)
    assert area == pytest.approx(sum(areas) / 3, abs=1e-15)
    for name in ("groc", "croc", "pr-auc", "pr-auc[join=lengths]", "pr-auc[join=users,interpolation=trapezoid]"):
        assert np.isnan(number(name, [{1: 1.0}, {}], [{}, {}]))
    for name in ("groc", "croc", "croc[rates=means]"):
        assert np.isnan(number(name, [{1: 1.0}], [{1: 1.0}]))


# --- laws ---------------------------------------------------------------------------------------------------------

ONE_LIST = st.dictionaries(st.integers(0, 12), st.integers(0, 4).map(float), max_size=9)
ONE_TRUTH = st.dictionaries(st.integers(0, 14), st.just(1.0), max_size=5)
SEVERAL = st.lists(st.tuples(ONE_LIST, ONE_TRUTH), min_size=1, max_size=7)
NAMES = (
    "groc",
    "croc",
    "croc[rates=means]",
    "pr-auc",
    "pr-auc[join=lengths]",
    "pr-auc[join=users,interpolation=trapezoid]",
)


@settings(deadline=None, max_examples=60)
@given(lists=SEVERAL, size=st.integers(1, 4))
def test_numbers_do_not_depend_on_blocks_and_lie_between_0_and_1(number, lists, size):
    scores, truth = zip(*lists, strict=True)
    for name in NAMES:
        value = number(name, scores, truth)
        np.testing.assert_equal(number(name, scores, truth, size=size), value)
        assert np.isnan(value) or 0 <= value <= 1 + 1e-12


@settings(deadline=None, max_examples=60)
@given(lists=SEVERAL)
def test_no_lists_are_better_than_perfect_ones(number, lists):
    scores, truth = zip(*lists, strict=True)
    for rates in ("totals", "means"):
        share = number(f"croc[normalised=perfect,rates={rates}]", scores, truth)
        assert np.isnan(share) or share <= 1 + 1e-12


@settings(deadline=None, max_examples=60)
@given(lists=SEVERAL)
def test_pooled_areas_are_those_of_scikit_learn(number, lists):
    scores = [by_item for by_item, _ in lists]
    listed = [{item: 1.0 for item in judged if item in by_item} for by_item, judged in lists]
    flags = [item in judged for by_item, judged in zip(scores, listed, strict=True) for item in by_item]
    values = [score for by_item in scores for score in by_item.values()]
    if not 0 < sum(flags) < len(flags):
        return
    assert number("groc", scores, listed) == pytest.approx(roc_auc_score(flags, values), abs=1e-12)
    assert number("pr-auc", scores, listed) == pytest.approx(average_precision_score(flags, values), abs=1e-12)
    precisions, recalls, _ = precision_recall_curve(flags, values)
    area = number("pr-auc[interpolation=trapezoid]", scores, listed)
    assert area == pytest.approx(auc(recalls, precisions), abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(lists=SEVERAL, shift=st.integers(1, 3))
def test_a_relevant_item_that_moves_up_never_lowers_an_area(number, lists, shift):
    scores, truth = zip(*lists, strict=True)
    better = [{i: s + shift * (i in judged) for i, s in by_item.items()} for by_item, judged in lists]
    for name in ("groc", "croc", "croc[rates=means]", "pr-auc"):
        before, after = number(name, scores, truth), number(name, better, truth)
        assert np.isnan(before) or after >= before - 1e-12


TIED = st.lists(
    st.tuples(
        st.dictionaries(st.integers(0, 4), st.integers(0, 1).map(float), max_size=4),
        st.dictionaries(st.integers(0, 5), st.just(1.0), max_size=3),
    ),
    min_size=1,
    max_size=3,
)


def orders(scores: Mapping[int, float]) -> list[dict[int, float]]:
    """A list in each of the orders that its scores allow, with scores that say so."""
    allowed = [
        order
        for order in itertools.permutations(scores)
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order))
    ]
    return [{item: -float(place) for place, item in enumerate(order)} for order in allowed]


@settings(deadline=None, max_examples=40)
@given(lists=TIED)
def test_expectations_are_means_over_all_orders(number, lists):
    scores, truth = zip(*lists, strict=True)
    every = list(itertools.product(*(orders(by_item) for by_item in scores)))[:600]
    if len(every) == 600:
        return
    for name in ("croc", "croc[rates=means]", "pr-auc[join=users,interpolation=trapezoid]"):
        mean = np.mean([number(name, by_item, truth) for by_item in every])
        np.testing.assert_allclose(number(name, scores, truth, ties="expected"), mean, atol=1e-12)


def test_croc_is_exact_for_many_users(number):
    """Against fractions: no rounding but the last one."""
    rng = np.random.default_rng(5)
    scores, truth = [], []
    for _ in range(150):
        size = int(rng.integers(1, 30))
        items = rng.permutation(40)[:size].tolist()
        scores.append({item: -float(place) for place, item in enumerate(items)})
        truth.append({int(item): 1.0 for item in rng.permutation(40)[: int(rng.integers(1, 6))]})
    hits = [[item in judged for item in by_item] for by_item, judged in zip(scores, truth, strict=True)]
    negatives = [len(flags) - sum(flags) for flags in hits]
    x, y = [Fraction(0)], [Fraction(0)]
    for n in range(1, 31):
        y.append(sum(Fraction(sum(f[:n]), len(j)) for f, j in zip(hits, truth, strict=True)) / 150)
        false = [Fraction(len(f[:n]) - sum(f[:n]), o) for f, o in zip(hits, negatives, strict=True) if o]
        x.append(sum(false, Fraction(0)) / len(false))
    area = sum((b - a) * (c + d) / 2 for a, b, c, d in zip(x, x[1:], y, y[1:], strict=False))
    assert number("croc[rates=means]", scores, truth) == pytest.approx(float(area), abs=1e-14)
    assert number("croc[rates=means]", scores, truth, size=7) == number("croc[rates=means]", scores, truth)


# --- what is refused --------------------------------------------------------------------------------------------


def test_average_precision_has_one_name(measure):
    with pytest.raises(ProtocolError, match="is the mean average precision; ask for ap"):
        measure("pr-auc[join=users]")


def test_curves_of_list_lengths_need_an_order(measure):
    for name in ("croc", "pr-auc[join=lengths]", "pr-auc[join=users,interpolation=trapezoid]"):
        with pytest.raises(ProtocolError, match=r'with ties\.break = "shared-mean" several items have one rank'):
            measure(name, ties__break="shared-mean")
    with pytest.raises(ProtocolError, match=r"random together.*ask for ap or croc"):
        measure("pr-auc[join=lengths]", ties__break="expected")
    assert measure("groc", ties__break="shared-worst")
    assert measure("auprc", ties__break="shared-worst").name == "pr-auc"


def test_only_pooled_pairs_need_scores(measure, ranked, background):
    assert "scores" in measure("groc").needs and "scores" in measure("pr-auc").needs
    assert "scores" not in measure("croc").needs and "scores" not in measure("pr-auc[join=lengths]").needs
    with pytest.raises(DataError, match="have ranks only; give a column 'score', or join users by list lengths"):
        measure("groc").of_lists(replace(ranked(SCORES, TRUTH), scores=None), background(TRUTH, 10))
    with pytest.raises(DataError, match=r"scores show which items are tied, and .* have ranks only"):
        by_rank = replace(ranked(SCORES, TRUTH, ties="best"), scores=None)
        measure("epc@2", ties__break="best").of_lists(by_rank, background(TRUTH, 10, train=[(0, 1)]))


def test_too_many_pairs_are_refused_in_one_block_or_in_several(number, monkeypatch):
    monkeypatch.setattr(curves, "MOST_PAIRS", 6)
    for size in (1, 2):
        with pytest.raises(DataError, match=r"at least 7 .* pairs here, more than the 6 .* ask for croc"):
            number("groc", SCORES, TRUTH, size=size)
