"""EASE against its closed form, and against the problem that it solves."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.testing import queries_of
from repro_reference.ease import EASE, declaration


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


def test_every_definition_is_its_formula(table: Callable[[Any], Interactions]) -> None:
    """B(i, j) from ridge regressions on the other items, with the penalty of each, for more and for fewer users."""
    rng = np.random.default_rng(5)
    options = {parameter.name: parameter.options for parameter in declaration.parameters if parameter.options}
    for n_users, n_items in ((9, 6), (5, 8), (6, 11)):
        ratings = rng.integers(1, 6, (n_users, n_items)) * (rng.random((n_users, n_items)) < 0.5)
        ratings[0] = 0  # a user without rows
        ratings[:, 1] = 0  # an item without rows
        data = table(ratings)
        for chosen in itertools.product(*options.values()):
            given = dict(zip(options, chosen, strict=True))
            matrix = ratings if given["values"] == "ratings" else (ratings > 0).astype(float)
            known_users, known_items = ratings.any(axis=1), ratings.any(axis=0)
            penalties = np.full(n_items, 2.5)
            if given["penalty"] == "users":
                penalties *= known_users.sum()
            if given["penalty"] == "count":
                penalties *= (matrix**2).sum(axis=0)
            weights = np.zeros((n_items, n_items))
            for item in np.flatnonzero(known_items):
                others = np.flatnonzero(known_items & (np.arange(n_items) != item))
                inputs = matrix[:, others]
                left = inputs.T @ inputs + np.diag(penalties[others])
                weights[others, item] = np.linalg.solve(left, inputs.T @ matrix[:, item])
            if given["signs"] == "positive":
                weights = np.maximum(weights, 0.0)
            if given["side"] == "rows":
                weights = weights.T
            weights = weights / np.maximum((matrix**2).sum(axis=0), 1.0) ** 0.5
            expected = np.where(known_users[:, None] & known_items, matrix @ weights, np.nan)
            recommender = EASE(regularisation=2.5, popularity_power=0.5, **given)
            recommender.fit(data, seed=1)
            users, items = np.arange(n_users, dtype=np.int32), np.arange(n_items, dtype=np.int32)
            actual = recommender.score(queries_of(users), items).values
            np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12, err_msg=str(given))


def test_a_matrix_that_is_singular_in_double_precision_is_named(table: Callable[[Any], Interactions]) -> None:
    recommender = EASE(regularisation=1e-30)
    with pytest.raises(PluginError, match="larger regularisation"):
        recommender.fit(table(np.ones((4, 4))), seed=1)
