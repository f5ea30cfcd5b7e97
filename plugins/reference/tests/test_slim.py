"""SLIM against scikit-learn's elastic net, and by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet

from repro.data.interactions import Interactions
from repro.testing import queries_of
from repro_reference.slim import SLIM, declaration

Table = Callable[[Any], Interactions]
OPTIONS = {parameter.name: parameter.options for parameter in declaration.parameters if parameter.options}


def scores(recommender: SLIM, train: Interactions) -> np.ndarray:
    recommender.fit(train, seed=1)
    users, items = (np.arange(size, dtype=np.int32) for size in (train.n_users, train.n_items))
    return recommender.score(queries_of(users), items).values


def test_two_items_by_hand(table: Table) -> None:
    """x1'x2 = 2, x1'x1 = 3, x2'x2 = 2. w(1 for 2) = (2 - 0.5) / (3 + 1), w(2 for 1) = (2 - 0.5) / (2 + 1)."""
    actual = scores(SLIM(l1=0.5, l2=1.0), table([[1, 1], [1, 1], [1, 0]]))
    np.testing.assert_allclose(actual, [[1.5 / 3, 1.5 / 4], [1.5 / 3, 1.5 / 4], [0.0, 1.5 / 4]])


@pytest.mark.parametrize("chosen", list(itertools.product(*OPTIONS.values())), ids="/".join)
@pytest.mark.parametrize(("l1", "l2"), [(0.4, 0.7), (1.2, 0.1)])
def test_scikit_learn(table: Table, chosen: tuple[str, ...], l1: float, l2: float) -> None:
    given = dict(zip(OPTIONS, chosen, strict=True))
    rng = np.random.default_rng(4)
    ratings = rng.integers(1, 6, (25, 10)) * (rng.random((25, 10)) < 0.4)
    assert ratings.any(axis=1).all()
    matrix = ratings if given["values"] == "ratings" else (ratings > 0).astype(float)
    if given["scale"] == "mean":
        l1, l2 = l1 / 20, l2 / 20
    weights = np.zeros((10, 10))
    of_mean = 1.0 if given["scale"] == "mean" else 1.0 / 25
    for item in range(10):
        others = np.delete(np.arange(10), item)
        model = ElasticNet(
            alpha=(l1 + l2) * of_mean,
            l1_ratio=l1 / (l1 + l2),
            fit_intercept=False,
            positive=given["signs"] == "positive",
            tol=1e-14,
            max_iter=1_000_000,
        )
        weights[others, item] = model.fit(matrix[:, others], matrix[:, item]).coef_
    if given["signs"] == "dropped":
        weights = np.maximum(weights, 0.0)
    expected = matrix @ (weights if given["side"] == "columns" else weights.T)
    actual = scores(SLIM(l1=l1, l2=l2, tolerance=1e-13, **given), table(ratings))
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-8)


def test_without_l1_and_constraint_it_is_ridge_regression(table: Table) -> None:
    rng = np.random.default_rng(8)
    matrix = (rng.random((20, 7)) < 0.5).astype(float)
    expected = np.zeros((7, 7))
    for item in range(7):
        others = np.delete(np.arange(7), item)
        inputs = matrix[:, others]
        expected[others, item] = np.linalg.solve(inputs.T @ inputs + 3.0 * np.eye(6), inputs.T @ matrix[:, item])
    actual = scores(SLIM(l1=0.0, l2=3.0, signs="any", tolerance=1e-14), table(matrix))
    np.testing.assert_allclose(actual, matrix @ expected, atol=1e-10)


def test_a_penalty_above_all_products_leaves_no_weights(table: Table) -> None:
    actual = scores(SLIM(l1=100.0), table([[1, 1, 0], [1, 0, 1]]))
    assert (actual == 0.0).all()
