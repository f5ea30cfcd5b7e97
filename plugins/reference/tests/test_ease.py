"""EASE against its closed form, and against the problem that it solves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.testing import queries_of
from repro_reference.ease import EASE


def test_two_items_by_hand(table: Callable[[Any], Interactions]) -> None:
    """X'X = [[2, 1], [1, 1]], and regression on one item: B(1, 2) = 1 / (2 + 1), B(2, 1) = 1 / (1 + 1)."""
    recommender = EASE(regularisation=1.0)
    recommender.fit(table([[5, 3], [4, 0]]), seed=1)
    np.testing.assert_allclose(recommender.weights_, [[0, 1 / 3], [1 / 2, 0]])
    scores = recommender.score(queries_of(np.array([0, 1], np.int32)), np.array([0, 1], np.int32))
    np.testing.assert_allclose(scores.values, [[1 / 2, 1 / 3], [0, 1 / 3]])


@pytest.mark.parametrize("values", ["binary", "ratings"])
def test_each_column_is_a_ridge_regression_on_the_other_items(train: Interactions, values: str) -> None:
    matrix = train.matrix().toarray()
    if values == "binary":
        matrix = (matrix > 0).astype(float)
    recommender = EASE(regularisation=7.0, values=values)
    recommender.fit(train, seed=1)
    for item in range(28):
        others = np.delete(matrix, item, axis=1)
        weights = np.linalg.solve(others.T @ others + 7.0 * np.eye(29), others.T @ matrix[:, item])
        np.testing.assert_allclose(np.delete(recommender.weights_[:, item], item), weights, atol=1e-12)
        assert recommender.weights_[item, item] == 0
    users, items = np.arange(38, dtype=np.int32), np.arange(28, dtype=np.int32)
    expected = (matrix @ recommender.weights_)[:38, :28]
    np.testing.assert_allclose(recommender.score(queries_of(users), items).values, expected, atol=1e-12)
