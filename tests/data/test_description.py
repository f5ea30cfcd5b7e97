"""The figures of a data set."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.data import Interactions, describe
from repro.data.description import gini

COUNTS = st.lists(st.integers(0, 50), min_size=1, max_size=20).filter(any)


def mean_absolute_difference(values):
    """Half the relative mean absolute difference over all ordered pairs: the definition."""
    n, mean = len(values), sum(values) / len(values)
    return sum(abs(a - b) for a in values for b in values) / (2 * n * n * mean)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((1, 1, 1, 1), 0), ((0, 0, 0, 4), 3 / 4), ((0, 1), 1 / 2), ((1, 3), 1 / 4), ((2, 1, 3), 2 / 9), ((5,), 0)],
)
def test_gini_by_hand(counts, expected):
    assert gini(np.array(counts)) == pytest.approx(expected)


@settings(deadline=None)
@given(COUNTS)
def test_gini_is_half_the_relative_mean_absolute_difference(counts):
    assert gini(np.array(counts)) == pytest.approx(mean_absolute_difference(counts))


@settings(deadline=None)
@given(COUNTS, st.integers(1, 9))
def test_gini_does_not_change_with_the_scale(counts, factor):
    assert gini(factor * np.array(counts)) == pytest.approx(gini(np.array(counts)))


@pytest.fixture
def small():
    return Interactions.from_frame(
        pd.DataFrame(
            {
                "user": ["a", "a", "a", "b", "c"],
                "item": [1, 2, 2, 1, 1],
                "rating": [4.0, 5.0, 3.0, 4.0, 4.0],
                "timestamp": [86400, 172800, 0, 5, 6],
            }
        )
    )


def test_figures_by_hand(small):
    figures = describe(small)
    assert (figures.users, figures.items, figures.ratings) == (3, 2, 5)
    assert figures.density == pytest.approx(5 / 6)
    assert figures.gini == pytest.approx(0.1)  # counts 3 and 2: (3 - 2) / (2 * 5)
    assert figures.histogram == {3.0: 1, 4.0: 3, 5.0: 1}
    assert figures.mean_rating == pytest.approx(4.0)
    assert figures.duplicates == 1
    assert figures.per_user == (1, 1.0, 3)
    assert figures.per_item == (2, 2.5, 3)
    assert figures.time_span == "1970-01-01 to 1970-01-03"


def test_only_what_occurs_counts(small):
    part = describe(small.select(small.users == 1))
    assert (part.users, part.items, part.ratings, part.density, part.gini) == (1, 1, 1, 1.0, 0.0)


def test_density_of_the_size_of_movielens_1m():
    """6,040 users, 3,706 items and 1,000,209 ratings: 4.468%, as Valcarce et al. (2018) print it."""
    users, items, ratings = 6040, 3706, 1_000_209
    pairs = np.arange(ratings) * (users * items) // ratings
    codes = (pairs // items).astype(np.int32), (pairs % items).astype(np.int32)
    figures = describe(Interactions(*codes, np.ones(ratings), None, np.arange(users), np.arange(items)))
    assert (figures.users, figures.items, figures.duplicates) == (users, items, 0)
    assert dict(figures.lines())["density"] == "4.468%"


def test_forms(small):
    figures = describe(small)
    assert json.loads(json.dumps(figures.to_dict()))["per_user"] == {"min": 1, "median": 1.0, "max": 3}
    assert figures.to_frame().loc["users", "value"] == "3"


def test_without_ratings_and_timestamps():
    figures = describe(Interactions.from_frame(pd.DataFrame({"user": [1], "item": [1]})))
    assert not figures.explicit
    assert figures.time_span == "no timestamps"
    assert "interactions (no ratings)" in dict(figures.lines())
