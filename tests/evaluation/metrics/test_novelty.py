"""The popularity of recommended items, and when they were taken up."""

import itertools
import math
import statistics

import numpy as np
import pytest

from repro.errors import ProtocolError
from repro.evaluation.metrics import Background

NAN = pytest.approx(math.nan, nan_ok=True)

# Four training users: item 0 has all of them, item 1 two, item 2 one; items 3 and 4 nobody.
TRAIN = [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (1, 1), (2, 2)]


def test_self_information(ranked, values, background):
    known = background([{}] * 4, 5, TRAIN)
    lists = ranked([{0: 3.0, 1: 2.0, 2: 1.0}, {1: 1.0}, {3: 2.0, 2: 1.0}, {}], [{}] * 4)
    # In bits: item 0 counts 0, item 1 counts 1, item 2 counts 2, and item 3 as if one user had it.
    assert values("novelty@2", lists, known) == [1 / 2, 1.0, 2.0, 0.0]
    assert values("novelty@3", lists, known) == [1.0, 1.0, 2.0, 0.0]
    assert values("novelty[denominator=k]@2", lists, known) == [1 / 2, 1 / 2, 2.0, 0.0]


def test_items_that_nobody_has_can_be_left_out(ranked, values, background):
    known = background([{}] * 4, 5, TRAIN)
    lists = ranked([{3: 2.0, 1: 1.0}, {3: 2.0, 4: 1.0}, {}], [{}] * 3)
    assert values("novelty[unseen=left-out]@2", lists, known) == [1.0, NAN, 0.0]
    assert values("novelty[unseen=left-out,denominator=k]@2", lists, known) == [1 / 2, 0.0, 0.0]


def test_a_user_counts_once_for_an_item(ranked, values, background):
    known = background([{}] * 2, 2, [*TRAIN[:2], (0, 0), (0, 1)], users=[0, 1])
    assert values("novelty@2", ranked([{0: 2.0, 1: 1.0}], [{}]), known) == [1 / 2]


def test_popularity_complement(ranked, values, background):
    # Complements: item 0: 0, item 1: 1/2, item 2: 3/4, item 3: 1.
    known = background([{}] * 2, 5, TRAIN, users=[0, 3])
    lists = ranked([{0: 4.0, 1: 3.0, 2: 2.0, 3: 1.0}, {2: 1.0}, {}], [{1: 1, 3: 1}, {4: 1}, {}])
    assert values("epc@3", lists, known) == pytest.approx([(0 + 1 / 2 + 3 / 4) / 3, 3 / 4, 0.0])
    d2, d3 = 1 / math.log2(3), 1 / 2
    discounted = [(d2 / 2 + d3 * 3 / 4) / (1 + d2 + d3), 3 / 4, 0.0]
    assert values("epc[discount=log2]@3", lists, known) == pytest.approx(discounted, abs=1e-12)
    relevant = [(1 / 2 + 1) / 4, 0.0, NAN]
    assert values("epc[relevance=relevant]@4", lists, known) == relevant
    d4 = 1 / math.log2(5)
    both = [(d2 / 2 + d4) / (1 + d2 + d3 + d4), 0.0, NAN]
    assert values("epc[discount=log2,relevance=relevant]@4", lists, known) == [pytest.approx(both[0]), *both[1:]]
    assert values("epc[denominator=k]@3", lists, known) == pytest.approx([5 / 12, 1 / 4, 0.0])


def test_relevant_popularity_complement_is_exact_over_all_orders(ranked, values, background, measure):
    known = background([{}] * 4, 5, TRAIN)
    scores, truth = {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0}, {1: 1, 2: 1}
    complement = [0, 1 / 2, 3 / 4, 1]

    def discounted(order):
        worth = [1 / math.log2(place + 2) for place in range(2)]
        return sum(w * complement[i] for w, i in zip(worth, order, strict=False) if i in truth) / sum(worth)

    mean = statistics.fmean(discounted(order) for order in itertools.permutations(scores))
    lists = ranked([scores], [truth], ties="expected")
    name = "epc[discount=log2,relevance=relevant]@2"
    assert values(name, lists, known, ties__break="expected") == pytest.approx([mean], abs=1e-12)
    with pytest.raises(ProtocolError, match="use relevance = relevant"):
        measure("epc@2", ties__break="expected")


def timed(rows, ranked, scores, truth, train_times):
    """Users with held-out items at these times, and training rows of item 9 at those."""
    held_out = [(user, item, 1.0) for user, judged in enumerate(truth) for item in judged]
    times = [time for judged in truth for time in judged.values()]
    train = [(user, 9) for user in train_times]
    known = Background(
        rows(held_out, len(truth), 10, times),
        np.arange(10, dtype=np.int32),
        rows(train, len(truth), 10, list(train_times.values())),
    )
    return ranked(scores, truth), known


def test_time_split_novelty(rows, ranked, values):
    scores = [{1: 4.0, 2: 3.0, 3: 2.0, 4: 1.0}, {1: 2.0, 2: 1.0}, {}, {1: 1.0}]
    truth = [{1: 200, 3: 50, 4: 300}, {1: 10, 2: 20}, {1: 5}, {1: 7}]
    lists, known = timed(rows, ranked, scores, truth, {0: 100, 1: 20, 2: 1})
    # Of user 0, item 1 came after the last training row (100), item 3 before it, item 4 after; of user 1, item 1
    # came before and item 2 at that very moment. User 2 has no list, user 3 no training rows.
    assert values("time-novelty@1", lists, known) == [1.0, -1.0, 0.0, NAN]
    assert values("time-novelty@3", lists, known) == pytest.approx([0.0, -1 / 3, 0.0, math.nan], nan_ok=True)
    assert values("time-novelty@4", lists, known) == [1 / 4, -1 / 4, 0.0, NAN]
    stated = "time-novelty[moment=stated,time=15]@2"
    assert values(stated, lists, known) == [1 / 2, 0.0, 0.0, -1 / 2]


def test_time_split_novelty_is_exact_over_all_orders(rows, ranked, values):
    scores, truth = {1: 1.0, 2: 1.0, 3: 1.0}, {1: 200, 2: 50}
    sides = {1: 1, 2: -1}
    for moved, side in ((truth, sides), ({1: 200, 2: 300}, {1: 1, 2: 1})):
        _, known = timed(rows, ranked, [scores], [moved], {0: 100})
        orders = itertools.permutations(scores)
        mean = statistics.fmean(sum(side.get(item, 0) for item in order[:2]) / 2 for order in orders)
        lists = ranked([scores], [moved], ties="expected")
        assert values("time-novelty@2", lists, known) == pytest.approx([mean], abs=1e-12)


def test_a_stated_moment_must_be_said(measure):
    with pytest.raises(ProtocolError, match=r"metric.time-novelty.time is not stated"):
        measure("time-novelty[moment=stated]@5")


def test_temporal_diversity_and_novelty(ranked, values, background):
    last = {0: np.array([1, 2, 7]), 1: np.array([1, 2]), 3: np.array([], dtype=np.int64)}
    before = {0: np.array([3]), 2: np.array([5])}
    known = background([{}] * 5, 9, previous=(last, before))
    lists = ranked([{1: 3.0, 3: 2.0, 7: 1.0}, {4: 1.0}, {5: 1.0}, {6: 1.0}, {}], [{}] * 5)
    # Down to 2, the last list of user 0 had items 1 and 2; the one before it had item 3.
    assert values("temporal-diversity@2", lists, known) == [1 / 2, 1 / 2, NAN, NAN, NAN]
    assert values("temporal-novelty@2", lists, known) == [0.0, 1 / 2, 0.0, NAN, NAN]
    assert values("temporal-diversity[denominator=list]@2", lists, known) == [1 / 2, 1.0, NAN, NAN, NAN]
    assert values("temporal-novelty[denominator=list]@2", lists, known)[:3] == [0.0, 1.0, 0.0]
    assert values("temporal-diversity@3", lists, known)[0] == pytest.approx(1 / 3)


def test_an_empty_list_after_another_one_brings_nothing_new(ranked, values, background):
    known = background([{}], 3, previous=({0: np.array([1])},))
    assert values("temporal-diversity@2", ranked([{}], [{}]), known) == [0.0]
