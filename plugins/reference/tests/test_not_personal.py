"""Random, popularity, item mean and bias, by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from repro.data.interactions import Interactions
from repro.plugin import UNSCORED
from repro.testing import queries_of
from repro_reference.bias import Bias
from repro_reference.item_mean import ItemMean
from repro_reference.popularity import Popularity
from repro_reference.random import Random

Table = Callable[[Any], Interactions]
# means of items: 4, 2, 3, none; overall (5 + 1 + 3 + 3 + 3) / 5 = 3
RATINGS = [[5, 1, 0, 0], [3, 0, 3, 0], [0, 3, 0, 0]]


def test_random_is_uniform_and_differs_by_seed(table: Table) -> None:
    train = table(np.ones((60, 70)))
    first, again, other = Random(), Random(), Random()
    for recommender, seed in ((first, 1), (again, 1), (other, 2)):
        recommender.fit(train, seed=seed)
    users, items = np.arange(60, dtype=np.int32), np.arange(70, dtype=np.int32)
    values = first.score(queries_of(users), items).values
    assert (values == again.score(queries_of(users), items).values).all()
    assert (values != other.score(queries_of(users), items).values).all()
    assert stats.kstest(values.ravel(), "uniform").pvalue > 0.001
    assert abs(np.corrcoef(values.ravel(), other.score(queries_of(users), items).values.ravel())[0, 1]) < 0.05


def test_random_belongs_to_the_ids_not_to_their_codes() -> None:
    small = Interactions.from_frame(pd.DataFrame({"user": [7], "item": [9]}))
    large = Interactions.from_frame(pd.DataFrame({"user": [1, 7, 8], "item": [2, 9, 9]}))
    scores = []
    for data in (small, large):
        recommender = Random()
        recommender.fit(data, seed=1)
        scores.append(recommender.score(queries_of(data.user_codes([7])), data.item_codes([9])).values[0, 0])
    assert scores[0] == scores[1]


def test_popularity_counts_training_rows(table: Table) -> None:
    recommender = Popularity()
    recommender.fit(table(RATINGS), seed=1)
    scores = recommender.score(queries_of(np.array([0, 2], np.int32)), np.arange(4, dtype=np.int32))
    np.testing.assert_array_equal(scores.values, [[2, 2, 1, np.nan]] * 2)
    assert scores.state is not None
    assert scores.state[0, 3] == UNSCORED


COUNTS = {"rows": [2, 2, 1], "users": [2, 2, 1], "sum": [8, 4, 3], "mean": [4, 2, 3]}
SCALES = {
    "share": lambda numbers: numbers / numbers.max(),
    "rank": lambda numbers: stats.rankdata(numbers),
    "quantile": lambda numbers: [numbers[numbers <= number].sum() / numbers.sum() for number in numbers],
    "quantile-in-order": lambda numbers: [
        sum(other for place, other in enumerate(numbers) if (other, place) <= (number, own)) / numbers.sum()
        for own, number in enumerate(numbers)
    ],
    "count": lambda numbers: numbers,
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("count", COUNTS)
def test_popularity_of_every_kind(table: Table, count: str, scale: str) -> None:
    recommender = Popularity(count=count, scale=scale)
    recommender.fit(table(RATINGS), seed=1)
    scores = recommender.score(queries_of(np.array([1], np.int32)), np.arange(4, dtype=np.int32))
    expected = SCALES[scale](np.array(COUNTS[count], dtype=float))
    np.testing.assert_allclose(scores.values, [[*expected, np.nan]], rtol=1e-15)


def test_popularity_counts_a_user_with_several_rows_once() -> None:
    rows = {"user": [1, 1, 2, 3], "item": [5, 5, 5, 6], "rating": [2.0, 4.0, 1.0, 5.0]}
    for count, expected in {"rows": [3, 1], "users": [2, 1], "sum": [7, 5], "mean": [7 / 3, 5]}.items():
        recommender = Popularity(count=count)
        recommender.fit(Interactions.from_frame(pd.DataFrame(rows)), seed=1)
        scores = recommender.score(queries_of(np.array([0], np.int32)), np.arange(2, dtype=np.int32))
        np.testing.assert_allclose(scores.values[0], expected)


def test_item_mean(table: Table) -> None:
    recommender = ItemMean()
    recommender.fit(table(RATINGS), seed=1)
    scores = recommender.score(queries_of(np.array([0], np.int32)), np.arange(4, dtype=np.int32))
    np.testing.assert_array_equal(scores.values, [[4, 2, 3, np.nan]])
    predicted = recommender.predict(queries_of(np.array([2, 1], np.int32)), np.array([0, 1], np.int32))
    np.testing.assert_array_equal(predicted.values, [4, 2])


def test_bias_without_damping(table: Table) -> None:
    """Item biases 1, -1, 0; residuals of user 1: 5-4 and 1-2, mean 0; user 2: -1 and 0; user 3: 3-2."""
    recommender = Bias()
    recommender.fit(table(RATINGS), seed=1)
    scores = recommender.score(queries_of(np.arange(3, dtype=np.int32)), np.arange(3, dtype=np.int32))
    np.testing.assert_allclose(scores.values, [[4, 2, 3], [3.5, 1.5, 2.5], [5, 3, 4]])


def test_bias_with_damping(table: Table) -> None:
    """Item 1: (2 + 0) / (2 + 2) = 0.5, item 2: -0.5, item 3: 0; user 3: (0 + 0.5) / (1 + 3) = 0.125."""
    recommender = Bias(user_damping=3.0, item_damping=2.0)
    recommender.fit(table(RATINGS), seed=1)
    predicted = recommender.predict(queries_of(np.array([2, 2, 2], np.int32)), np.array([0, 1, 2], np.int32))
    np.testing.assert_allclose(predicted.values, [3.625, 2.625, 3.125])


def test_bias_of_a_user_without_rows_is_zero(table: Table) -> None:
    recommender = Bias()
    recommender.fit(table([*RATINGS, [0, 0, 0, 0]]), seed=1)
    scores = recommender.score(queries_of(np.array([3], np.int32)), np.arange(4, dtype=np.int32))
    np.testing.assert_allclose(scores.values, [[4, 2, 3, np.nan]])


@pytest.mark.parametrize("damping", [0.0, 4.0])
def test_bias_of_constant_ratings_is_the_constant(table: Table, damping: float) -> None:
    recommender = Bias(user_damping=damping, item_damping=damping)
    recommender.fit(table(np.full((3, 4), 2.5)), seed=1)
    values = recommender.score(queries_of(np.arange(3, dtype=np.int32)), np.arange(4, dtype=np.int32)).values
    assert (values == 2.5).all()
