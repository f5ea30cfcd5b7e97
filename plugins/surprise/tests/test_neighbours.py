"""The k nearest of a list are those that ``heapq.nlargest`` takes, also among equal ones."""

from __future__ import annotations

import heapq

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from repro_surprise.neighbours import RatingLists, nearest

# Few different numbers, so that many are equal.
similarities = arrays(np.float64, (3, 4, 9), elements=st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.7, 1.0]))


@given(similarities, st.integers(1, 10))
def test_the_first_of_equals_are_kept(similar: np.ndarray, k: int) -> None:
    lowest = nearest(-similar, k)
    for index in np.ndindex(3, 4):
        chosen = heapq.nlargest(k, range(9), key=lambda position, row=similar[index]: row[position])
        assert (-lowest[index] == np.where(np.isin(np.arange(9), chosen), similar[index], 0.0)).all()


def test_what_is_not_a_number_stays_so() -> None:
    assert np.isnan(nearest(np.array([[-1.0, np.nan, -0.5, -0.2]]), 2)).tolist() == [[False, True, False, False]]


def test_a_list_is_filled_up_by_its_own_length_alone() -> None:
    lengths = np.array([1, 8, 9, 130, 600])
    y = np.repeat(np.arange(5), lengths)
    lists = RatingLists.of(np.arange(len(y)), y, np.ones(len(y)), 5)
    together = {
        int(p): length for positions, length in lists.of_similar_length(np.arange(5), 10_000) for p in positions
    }
    assert all(length >= lengths[position] for position, length in together.items())
    for position, length in together.items():
        assert [actual for _, actual in lists.of_similar_length(np.array([position]), 10)] == [length]


def test_lists_keep_the_order_of_rows_and_the_unknown_has_an_empty_one() -> None:
    lists = RatingLists.of(np.array([5, 3, 4, 1]), np.array([1, 0, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0]), 2)
    x, values = lists.padded(np.array([1, -1]), 4, padding=9)
    assert x.tolist() == [[5, 4, 1, 9], [9, 9, 9, 9]]
    assert values.tolist() == [[1.0, 3.0, 4.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
