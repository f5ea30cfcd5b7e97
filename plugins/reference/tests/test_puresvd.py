"""PureSVD against the dense decomposition of NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.testing import queries_of
from repro_reference.puresvd import PureSVD, declaration


def scores(train: Interactions, factors: int, seed: int = 1) -> np.ndarray:
    recommender = PureSVD(factors=factors)
    recommender.fit(train, seed=seed)
    users, items = np.arange(38, dtype=np.int32), np.arange(28, dtype=np.int32)
    return recommender.score(queries_of(users), items).values


@pytest.mark.parametrize("factors", [1, 3, 10, 27])
def test_scores_are_the_closest_matrix_of_that_rank(train: Interactions, factors: int) -> None:
    """R Q Q' is U S Q' cut to its largest singular values: the best approximation by Eckart and Young."""
    ratings = train.matrix().toarray()
    left, values, right = np.linalg.svd(ratings, full_matrices=False)
    expected = (left[:, :factors] * values[:factors]) @ right[:factors]
    np.testing.assert_allclose(scores(train, factors), expected[:38, :28], atol=1e-10)


@pytest.mark.parametrize("factors", [30, 500])
def test_all_factors_give_the_ratings_back(train: Interactions, factors: int) -> None:
    np.testing.assert_allclose(scores(train, factors), train.matrix().toarray()[:38, :28], atol=1e-10)


@pytest.mark.parametrize("ratings", [np.full((12, 10), 3), np.kron(np.eye(3), np.full((5, 4), 2)), np.eye(9)])
def test_equal_or_missing_singular_values_do_not_bring_chance_in(
    table: Callable[[Any], Interactions], ratings: np.ndarray
) -> None:
    data = table(ratings)
    users, items = np.arange(data.n_users, dtype=np.int32), np.arange(data.n_items, dtype=np.int32)
    actual = []
    for seed in (1, 1, 2):
        recommender = PureSVD(factors=4)
        recommender.fit(data, seed=seed)
        actual.append(recommender.score(queries_of(users), items).values)
    assert (actual[0] == actual[1]).all()
    assert (actual[0] == actual[2]).all()


def test_a_matrix_of_lower_rank_is_given_back(table: Callable[[Any], Interactions]) -> None:
    data = table(np.outer([1, 2, 1, 2, 1, 2], [1, 1, 2, 2, 1]))
    recommender = PureSVD(factors=3)
    recommender.fit(data, seed=1)
    scores = recommender.score(queries_of(np.arange(6, dtype=np.int32)), np.arange(5, dtype=np.int32))
    np.testing.assert_allclose(scores.values, data.matrix().toarray(), atol=1e-10)
    assert recommender.item_factors_.shape == (1, 5)


def biases(values: np.ndarray, rated: np.ndarray, of_users: float, of_items: float) -> np.ndarray:
    """The mean, the damped item biases and the damped user biases of what they leave."""
    overall = values[rated].mean()
    items = np.where(rated, values - overall, 0.0).sum(axis=0) / (rated.sum(axis=0) + of_items)
    users = np.where(rated, values - overall - items, 0.0).sum(axis=1) / (rated.sum(axis=1) + of_users)
    return overall + items + users[:, None]


OPTIONS = {parameter.name: parameter.options for parameter in declaration.parameters if parameter.options}


@pytest.mark.parametrize("chosen", list(itertools.product(*OPTIONS.values())), ids="/".join)
def test_every_definition_is_its_formula(table: Callable[[Any], Interactions], chosen: tuple[str, ...]) -> None:
    """The dense matrix with its missing values filled, decomposed by NumPy."""
    given = dict(zip(OPTIONS, chosen, strict=True))
    rng = np.random.default_rng(11)
    ratings = rng.uniform(1, 5, (14, 9)) * (rng.random((14, 9)) < 0.6)
    rated = ratings > 0
    values = rated.astype(float) if given["values"] == "binary" else ratings
    means = {
        "zero": np.zeros(values.shape),
        "overall-mean": np.full(values.shape, values[rated].mean()),
        "user-mean": np.repeat([[row[kept].mean()] for row, kept in zip(values, rated, strict=True)], 9, axis=1),
        "item-mean": np.repeat([[row[kept].mean() for row, kept in zip(values.T, rated.T, strict=True)]], 14, axis=0),
        "baseline": biases(values, rated, 1.5, 2.5),
    }[given["missing"]]
    filled = np.where(rated, values, means)
    left, singular, right = np.linalg.svd(filled - means if given["subtracted"] == "yes" else filled)
    power = {"one-side": 1, "none": 0, "both-sides": 2}[given["scaling"]]
    weights = np.where(singular[:3] > 1e-6, singular[:3] ** power, 0.0)  # vectors of a zero one are arbitrary
    expected = (left[:, :3] * weights) @ right[:3]
    expected += means if given["subtracted"] == "yes" else 0.0
    recommender = PureSVD(factors=3, user_damping=1.5, item_damping=2.5, **given)
    recommender.fit(table(ratings), seed=1)
    scores = recommender.score(queries_of(np.arange(14, dtype=np.int32)), np.arange(9, dtype=np.int32))
    np.testing.assert_allclose(scores.values, expected, rtol=1e-7, atol=1e-9)
