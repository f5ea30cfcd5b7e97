"""Draws follow the distribution they should, by every path through the kernel: chi-square with fixed seeds."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2, chisquare

from repro.evaluation.candidates.draws import ListDraws, Pools, draw_negatives
from repro.evaluation.candidates.ragged import Ragged
from repro.rng import child_keys, id_keys, stream

N = 6000


def draw(weights, size, *, weighted=True, replacement=False, closed=(), n=N):
    """The columns drawn for ``n`` lists, each with a stream of its own."""
    width = len(weights)
    pools = Pools(
        Ragged.of_pairs(np.zeros(width, dtype=np.int64), np.arange(width), 1),
        np.array(weights, dtype=np.int64),
        weighted,
    )
    lists = ListDraws(
        np.zeros(n, dtype=np.int32),
        child_keys(stream(11, "test"), id_keys(range(n))),
        np.full(n, width - len(closed), dtype=np.int64),
        np.zeros(n, dtype=np.int32),
        Ragged.of_pairs(np.zeros(len(closed), dtype=np.int64), np.array(closed, dtype=np.int64), 1),
        Ragged(np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int32)),
    )
    drawn = draw_negatives(pools, lists, size, replacement)
    return [tuple(drawn.values[a:b].tolist()) for a, b in zip(drawn.offsets, drawn.offsets[1:], strict=False)]


def fits(lists, expected):
    """Whether the observed lists fit these probabilities."""
    counts = Counter(lists)
    assert set(counts) <= set(expected)
    observed = [counts[key] for key in expected]
    return chisquare(observed, np.array(list(expected.values())) * len(lists)).pvalue > 0.001


@pytest.mark.parametrize("size", [1, 5, 15, 19])
@pytest.mark.parametrize("n_closed", [0, 4, 2000])
def test_uniform_draws_take_every_item_equally_often(size, n_closed):
    open_columns = 20
    closed = range(0, 2 * n_closed, 2) if n_closed <= open_columns else range(open_columns, open_columns + n_closed)
    lists = draw([1] * (open_columns + n_closed), size, weighted=False, closed=closed)
    assert all(len(set(drawn)) == size for drawn in lists)
    counts = Counter(column for drawn in lists for column in drawn)
    assert not set(counts) & set(closed)
    share = size / open_columns
    observed = np.array(list(counts.values()))
    assert len(observed) == open_columns
    # Counts of draws without replacement vary less than multinomial ones: by (1 - share) n / (n - 1).
    statistic = ((observed - N * share) ** 2).sum() / (N * share * (1 - share)) * (1 - 1 / open_columns)
    assert 0.001 < chi2.sf(statistic, open_columns - 1) < 0.999


def test_all_pairs_of_items_are_equally_likely():
    expected = dict.fromkeys(combinations(range(6), 2), 1 / 15)
    assert fits(draw([1] * 6, 2, weighted=False), expected)


def test_weighted_draws_follow_the_weights():
    assert fits(draw([1, 2, 3, 4], 1), {(c,): (c + 1) / 10 for c in range(4)})


def test_weighted_draws_without_replacement_are_successive():
    # P({i, j}) = p_i p_j / (1 - p_i) + p_j p_i / (1 - p_j)
    p = np.array([1, 2, 3, 4]) / 10
    expected = {(i, j): p[i] * p[j] * (1 / (1 - p[i]) + 1 / (1 - p[j])) for i, j in combinations(range(4), 2)}
    assert fits(draw([1, 2, 3, 4], 2), expected)


def test_draws_end_where_one_item_holds_all_the_weight():
    # Column 3 comes first (but for 6 lists in a million), and the other one by the weights 1, 2, 3.
    lists = draw([1, 2, 3, 10**6], 2)
    assert fits(lists, {(c, 3): (c + 1) / 6 for c in range(3)})


def test_items_of_weight_zero_come_last():
    assert fits(draw([5, 0, 0, 1], 3), {(0, 1, 3): 0.5, (0, 2, 3): 0.5})
    assert fits(draw([0, 0, 0], 1), {(0,): 1 / 3, (1,): 1 / 3, (2,): 1 / 3})


@pytest.mark.parametrize("n_closed", [0, 3000])
def test_draws_with_replacement_may_repeat(n_closed):
    lists = draw([1] * (4 + n_closed), 3, weighted=False, replacement=True, closed=range(4, 4 + n_closed))
    # Of 64 sequences, 4 have one item, 36 two and 24 three.
    assert fits([len(drawn) for drawn in lists], {1: 4 / 64, 2: 36 / 64, 3: 24 / 64})


@pytest.mark.parametrize("n_closed", [0, 3000])
def test_weighted_draws_with_replacement(n_closed):
    lists = draw([1, 3] + [2] * n_closed, 2, replacement=True, closed=range(2, 2 + n_closed))
    assert fits(lists, {(0,): 1 / 16, (1,): 9 / 16, (0, 1): 6 / 16})


def test_weighted_draws_with_replacement_of_items_without_weight():
    lists = draw([0, 0, 7], 2, replacement=True, closed=[2])
    assert fits(lists, {(0,): 1 / 4, (1,): 1 / 4, (0, 1): 1 / 2})


def test_lists_are_independent():
    # Two lists agree on a drawn item with probability 1/4, whoever they are for.
    lists = draw([1] * 4, 1, weighted=False)
    same = sum(first == second for first, second in zip(lists[::2], lists[1::2], strict=True))
    assert abs(same - N / 8) < 4 * np.sqrt(N / 2 * 3 / 16)


def test_nothing_is_drawn_where_nothing_is_left():
    assert draw([1, 1], 3, weighted=False, closed=[0, 1], n=2) == [(), ()]
    assert draw([1, 1], 3, replacement=True, closed=[0, 1], n=2) == [(), ()]
