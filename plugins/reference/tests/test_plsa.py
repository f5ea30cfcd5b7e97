"""pLSA: what EM guarantees, and one step of it by a plain implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.testing import queries_of
from repro_reference.plsa import PLSA

Table = Callable[[Any], Interactions]


def fitted(train: Interactions, seed: int = 1, **parameters: Any) -> PLSA:
    recommender = PLSA(**parameters)
    recommender.fit(train, seed=seed)
    return recommender


def probabilities(recommender: PLSA, users: int, items: int) -> np.ndarray:
    return recommender.score(queries_of(np.arange(users, dtype=np.int32)), np.arange(items, dtype=np.int32)).values


def test_one_taste_is_popularity(table: Table) -> None:
    """With one z, P(i | u) is the share of the item in all rows: 2/5, 2/5, 1/5, whatever the ratings."""
    recommender = fitted(table([[5, 1, 0], [3, 0, 3], [0, 3, 0]]), factors=1, iterations=1)
    np.testing.assert_allclose(probabilities(recommender, 3, 3), [[0.4, 0.4, 0.2]] * 3)


def test_two_camps_are_told_apart(table: Table) -> None:
    camps = np.kron(np.eye(2), np.ones((3, 3)))
    actual = probabilities(fitted(table(camps), factors=2, iterations=200), 6, 6)
    np.testing.assert_allclose(actual, camps / 3, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_likelihood_never_decreases(train: Interactions, seed: int) -> None:
    recommender = fitted(train, seed=seed, factors=4, iterations=40)
    trace = np.array(recommender.log_likelihood_)
    assert len(trace) == 40
    assert (np.diff(trace) >= -1e-9).all()
    assert trace[-1] > trace[0] + 1


def test_likelihood_is_that_of_the_scores(train: Interactions) -> None:
    before, after = (fitted(train, factors=4, iterations=n) for n in (5, 6))
    chances = probabilities(before, train.n_users, train.n_items)[train.users, train.items]
    assert after.log_likelihood_[-1] == pytest.approx(np.log(chances).sum())


@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_probabilities_sum_to_one(train: Interactions, beta: float) -> None:
    recommender = fitted(train, factors=6, iterations=9, inverse_temperature=beta)
    np.testing.assert_allclose(probabilities(recommender, 38, 28).sum(axis=1), 1.0)
    np.testing.assert_allclose(recommender.tastes_.sum(axis=1), 1.0)
    np.testing.assert_allclose(recommender.mixtures_.sum(axis=1)[:38], 1.0)


@pytest.mark.parametrize("beta", [1.0, 0.6])
def test_a_step_of_em(train: Interactions, beta: float) -> None:
    before = fitted(train, factors=3, iterations=2, inverse_temperature=beta)
    mixtures, tastes = before.mixtures_.toarray(), before.tastes_.T
    by_user, by_item = np.zeros_like(mixtures), np.zeros_like(tastes)
    for user, item in zip(train.users, train.items, strict=True):
        joint = (mixtures[user] * tastes[item]) ** beta
        by_user[user] += joint / joint.sum()
        by_item[item] += joint / joint.sum()
    expected = (by_user[:38] / by_user[:38].sum(axis=1, keepdims=True)) @ (by_item / by_item.sum(axis=0))[:28].T
    after = fitted(train, factors=3, iterations=3, inverse_temperature=beta)
    np.testing.assert_allclose(probabilities(after, 38, 28), expected)


def test_the_start_depends_on_the_seed(train: Interactions) -> None:
    entry, two = (probabilities(fitted(train, seed=seed, iterations=3), 38, 28) for seed in (1, 2))
    assert not np.allclose(entry, two)
