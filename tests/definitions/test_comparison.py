"""Levels of agreement, against their definitions over all pairs of numbers."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.definitions.comparison import FILLERS, Answer, Comparison, Level
from repro.testing import ratings_table


def level(defined, answered, filled=None, train=None):
    answered = np.array(answered, dtype=float)
    filled = np.zeros(answered.shape, dtype=bool) if filled is None else np.array(filled)
    train = ratings_table(np.zeros(answered.shape)) if train is None else ratings_table(train)
    after = Comparison.start(1).after(np.array([defined], dtype=float), Answer(answered, filled, train))
    return Level(int(after.levels[0])), [name for name, left in zip(FILLERS, after.fillers[0], strict=True) if left]


def brute_force(x, y):
    """The highest level of two lists of numbers without gaps."""
    if x == y:
        return Level.EQUAL
    if any(b > 0 and np.allclose(np.array(x) * (b / a), y, rtol=1e-12) for a, b in zip(x, y, strict=True) if a > 0):
        return Level.PROPORTIONAL
    if any(np.allclose(np.array(x) * abs(b / a), y, rtol=1e-12) for a, b in zip(x, y, strict=True) if a * b > 0):
        return Level.PROPORTIONAL
    same = all(np.sign(x[i] - x[j]) == np.sign(y[i] - y[j]) for i, j in permutations(range(len(x)), 2))
    return Level.ORDER if same else Level.DIFFERENT


@given(
    st.lists(
        st.tuples(st.sampled_from([-2.0, -1.0, 1.0, 2.0, 4.0]), st.sampled_from([-3.0, -1.0, 1.0, 2.0, 3.0])),
        min_size=2,
        max_size=6,
    )
)
def test_the_level_of_one_user_is_that_of_all_pairs(pairs):
    x, y = (list(values) for values in zip(*pairs, strict=True))
    assert level([x], [y])[0] == brute_force(x, y)


@pytest.mark.parametrize(
    ("defined", "answered", "expected"),
    [
        ([[1, 2], [3, 4]], [[1, 2], [3, 4]], Level.EQUAL),
        ([[1, 2], [3, 4]], [[2, 4], [6, 8]], Level.PROPORTIONAL),
        ([[1, 2], [3, 4]], [[2, 4], [9, 12]], Level.ORDER),  # a factor for each user
        ([[1, 2], [3, 4]], [[1, 2], [4, 3]], Level.DIFFERENT),
        ([[1, 1], [3, 4]], [[1, 2], [4, 5]], Level.DIFFERENT),  # a tie that is broken
        ([[1, 2], [3, 4]], [[1, 2], [3, 4 * (1 + 1e-6)]], Level.ORDER),  # no rounding of 64 bits
        ([[1, 2], [3, 4]], [[1, 2], [3, 4 * (1 + 1e-11)]], Level.EQUAL),
        ([[1, 2], [3, np.nan]], [[1, 2], [3, np.nan]], Level.EQUAL),
        ([[1, 2], [3, 4]], [[1, 2], [3, np.nan]], Level.DIFFERENT),
        ([[1, 2], [3, 4]], [[1, 2], [3, -np.inf]], Level.DIFFERENT),
    ],
)
def test_levels(defined, answered, expected):
    assert level(defined, answered)[0] == expected


def test_numbers_of_32_bits_may_differ_by_more():
    exact = np.array([[1 / 3, 0.7], [0.1, 5 / 7]])
    assert level(exact, exact.astype(np.float32))[0] == Level.EQUAL
    assert level(exact, exact.astype(np.float16))[0] == Level.ORDER


def test_either_may_leave_out_the_training_set():
    train = [[5, 0], [0, 3]]
    assert level([[1, 2], [3, 4]], [[-np.inf, 2], [3, np.nan]], train=train)[0] == Level.EQUAL
    assert level([[np.nan, 2], [3, np.nan]], [[9, 2], [3, 9]], train=train)[0] == Level.EQUAL
    assert level([[1, 2], [3, 4]], [[np.nan, np.nan], [3, 4]], train=train)[0] == Level.DIFFERENT


@pytest.mark.parametrize(
    ("value", "filled", "expected"),
    [
        (np.nan, False, ["no score"]),
        (0.0, False, ["zero"]),
        (7.0, True, ["a fallback"]),
        (3.5, False, ["the mean rating"]),
        (2.5, False, ["the user's mean rating"]),
        (4.0, False, ["the item's mean rating"]),
    ],
)
def test_what_fills_a_pair_without_a_score(value, filled, expected):
    # User 1 rated 4 and 1, item 1 has the rating 4, and all ratings are 4, 1, 4 and 5.
    train = np.array([[0.0, 4.0, 1.0], [4.0, 5.0, 0.0]])
    defined = np.array([[np.nan, 1, 1], [1, 1, 1.0]])
    answered = np.array([[value, 1, 1], [1, 1, 1.0]])
    marks = np.zeros((2, 3), dtype=bool)
    marks[0, 0] = filled
    reached, fillers = level(defined, answered, marks, train)
    assert reached == Level.EQUAL
    assert fillers == expected


def test_a_number_that_fills_nothing_is_a_difference():
    train = np.array([[0.0, 4.0, 1.0], [4.0, 5.0, 0.0]])
    defined, answered = np.array([[np.nan, 1, 1], [1, 1, 1.0]]), np.array([[0.123, 1, 1], [1, 1, 1.0]])
    assert level(defined, answered, train=train)[0] == Level.DIFFERENT


def test_the_filler_is_the_same_on_all_training_sets():
    nothing = ratings_table(np.zeros((1, 2)))
    defined = np.array([[[np.nan, 1.0]]])
    answers = [Answer(np.array([[filler, 1.0]]), np.zeros((1, 2), dtype=bool), nothing) for filler in (0.0, np.nan)]
    comparison = Comparison.start(1)
    for answer, expected in zip(answers, (Level.EQUAL, Level.DIFFERENT), strict=True):
        comparison = comparison.after(defined, answer)
        assert comparison.levels[0] == expected
