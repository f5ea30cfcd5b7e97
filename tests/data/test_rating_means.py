"""Mean ratings."""

import numpy as np
import pandas as pd
import pytest

from repro.data import Interactions
from repro.data.rating_means import RatingMeans
from repro.errors import DataError

ROWS = Interactions.from_frame(
    pd.DataFrame(
        {"user": ["a", "a", "b", "c", "c", "c"], "item": [1, 2, 1, 1, 2, 3], "rating": [1, 4, 5, 3.3, 3.3, 3.3]}
    )
)


def test_means_by_hand():
    means = RatingMeans.of(ROWS)
    assert means.overall == pytest.approx(19.9 / 6)
    np.testing.assert_allclose(means.users, [2.5, 5.0, 3.3])
    np.testing.assert_allclose(means.items, [9.3 / 3, 7.3 / 2, 3.3])


def test_the_mean_of_equal_ratings_is_that_rating_exactly():
    assert sum([3.3] * 3) / 3 != 3.3  # what a plain sum gives
    assert RatingMeans.of(ROWS).users[2] == 3.3


def test_one_without_rows_has_the_mean_of_all():
    some = RatingMeans.of(ROWS.select(np.array([0, 1])))
    assert list(some.users) == [2.5, 2.5, 2.5]


def test_the_order_of_rows_changes_no_bit():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"user": rng.integers(0, 9, 500), "item": np.arange(500), "rating": rng.random(500)})
    first = RatingMeans.of(Interactions.from_frame(frame))
    second = RatingMeans.of(Interactions.from_frame(frame.sample(frac=1, random_state=2)))
    assert first.overall == second.overall
    assert (first.users == second.users).all()


def test_no_rows_no_means():
    with pytest.raises(DataError, match="no training rows"):
        RatingMeans.of(ROWS.select(np.array([], dtype=np.int64)))
