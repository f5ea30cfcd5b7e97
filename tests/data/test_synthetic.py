"""The synthetic generator: exact totals, the law, and independence of everything else."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from repro.data import describe, synthetic_interactions
from repro.data.synthetic import MOVIELENS_PRIOR, popularity_counts
from repro.errors import DataError

SMALL = {"users": 300, "items": 120, "ratings": 6000}


@st.composite
def sizes(draw):
    users, items = draw(st.integers(1, 60)), draw(st.integers(1, 60))
    return users, items, draw(st.integers(1, users * items))


@settings(deadline=None)
@given(sizes(), st.floats(0, 2))
def test_counts_are_whole_bounded_descending_and_add_up(size, alpha):
    users, items, ratings = size
    counts = popularity_counts(users, items, ratings, alpha)
    assert counts.dtype.kind == "i"
    assert counts.sum() == ratings
    assert counts.max() <= users
    assert counts.min() >= (1 if ratings >= items else 0)
    assert (np.diff(counts) <= 0).all()


@settings(max_examples=25, deadline=None)
@given(sizes(), st.floats(0, 2), st.integers(0, 5))
def test_the_chosen_number_of_ratings_and_no_pair_twice(size, alpha, seed):
    users, items, ratings = size
    figures = describe(synthetic_interactions(users, items, ratings, alpha, seed=seed))
    assert figures.ratings == ratings
    assert figures.duplicates == 0
    assert figures.items == items or ratings < items


def test_counts_follow_the_law():
    c1, c2, alpha = 2.0, 5.0, 1.2
    counts = popularity_counts(10_000, 200, 20_000, alpha, c1, c2)
    law = (c2 + np.arange(1, 201)) ** -alpha
    beta = (20_000 - 200 * c1) / law.sum()
    assert np.abs(counts - (c1 + beta * law)).max() <= 1


def test_alpha_0_is_uniform_and_skew_grows_with_alpha():
    ginis = [describe(synthetic_interactions(**SMALL, alpha=alpha)).gini for alpha in (0, 0.5, 1, 1.5, 2)]
    assert ginis[0] == 0  # 6,000 / 120 = 50 for every item
    assert all(flatter < steeper for flatter, steeper in pairwise(ginis))


def test_the_default_has_the_size_and_shape_of_movielens_1m():
    figures = describe(synthetic_interactions())
    assert (figures.users, figures.items, figures.ratings) == (6040, 3706, 1_000_209)
    assert f"{figures.density:.3%}" == "4.468%"
    assert f"{figures.gini:.3f}" == "0.634"
    assert figures.per_item[2] == pytest.approx(3428, abs=5)
    shares = np.array([figures.histogram[float(stars)] for stars in range(1, 6)]) / figures.ratings
    assert shares == pytest.approx(MOVIELENS_PRIOR, abs=0.002)


def test_users_are_drawn_uniformly():
    data = synthetic_interactions(users=50, items=2000, ratings=20_000, alpha=0, seed=3)
    # Without repetition within an item, counts vary a little less than chi-squared supposes: safe to the right.
    assert chisquare(data.user_counts()).pvalue > 1e-6


def test_popular_items_that_most_users_rate():
    data = synthetic_interactions(users=40, items=3, ratings=115, alpha=0)
    assert sorted(data.item_counts()) == [38, 38, 39]


def test_an_items_id_says_nothing_about_its_popularity():
    data = synthetic_interactions(**SMALL, alpha=2)
    rank = np.argsort(np.argsort(-data.item_counts(), kind="stable"))
    assert abs(np.corrcoef(rank, np.arange(len(rank)))[0, 1]) < 0.3


def test_deterministic_by_seed():
    first = synthetic_interactions(**SMALL, seed=1)
    assert first.digest == synthetic_interactions(**SMALL, seed=1).digest
    assert first.digest != synthetic_interactions(**SMALL, seed=2).digest


def test_a_users_draws_do_not_depend_on_how_many_items_there_are():
    """Values are keyed by user and item: what both data sets have in common has the same rating and time."""
    small = synthetic_interactions(50, 20, 500, seed=4).to_frame()
    large = synthetic_interactions(50, 40, 1200, seed=4).to_frame()
    both = small.merge(large, on=["user", "item"])
    assert len(both) > 100
    assert (both.rating_x == both.rating_y).all()
    assert (both.timestamp_x == both.timestamp_y).all()


def test_a_prior_of_ones_own():
    data = synthetic_interactions(**SMALL, prior=(0, 0, 1))
    assert set(data.ratings) == {3.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ratings": 99}, "99 ratings do not fit 4 users and 5 items, which have 20 pairs"),
        ({"alpha": 3}, "alpha is 3; it goes from 0"),
        ({"users": 0}, "each must be at least 1"),
        ({"c2": -1}, "c2 is -1; it must be above -1"),
        ({"prior": ()}, "it gives each rating a chance"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(DataError, match=message):
        synthetic_interactions(**{"users": 4, "items": 5, "ratings": 10, **options})
