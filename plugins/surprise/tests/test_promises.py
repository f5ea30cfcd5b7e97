"""Same rows and seed, same bits; another seed, other scores; and nothing left behind in the caller's process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import CheckedRecommender
from repro_surprise.classes import CLASSES

Fit = Callable[..., CheckedRecommender]
PARAMETERS: dict[str, dict[str, Any]] = {
    "SVDpp": {"n_epochs": 2, "n_factors": 5},
    "NMF": {"n_epochs": 5},
    "KNNWithMeans": {"sim_user_based": False},
}
RANDOM = {"SVD", "SVDpp", "NMF", "CoClustering", "NormalPredictor"}
each = pytest.mark.parametrize("name", CLASSES)


def codes(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int32)


def bits(recommender: CheckedRecommender, users: np.ndarray, items: np.ndarray) -> np.ndarray:
    return recommender.score_users(users, items).values.view(np.uint64)


def fit(fitted: Fit, name: str, train: Interactions, seed: int = 5) -> CheckedRecommender:
    return fitted(name, PARAMETERS.get(name, {}), train, seed)


@each
def test_another_seed_gives_other_scores_where_there_is_chance(name: str, train: Interactions, fitted: Fit) -> None:
    users, items = codes(train.n_users), codes(train.n_items)
    one, other = (bits(fit(fitted, name, train, seed), users, items) for seed in (5, 6))
    assert (one != other).any() == (name in RANDOM)


@each
def test_nothing_is_printed(name: str, train: Interactions, fitted: Fit, capfd: pytest.CaptureFixture[str]) -> None:
    fit(fitted, name, train).score_users(codes(5), codes(5))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", sorted(set(CLASSES) - {"SVD", "SVDpp", "NMF"}))
def test_scores_do_not_depend_on_who_else_is_asked_for(name: str, train: Interactions, fitted: Fit) -> None:
    """Not so the products of factors, whose last bits are those of BLAS for the shape of a block."""
    users, items = codes(train.n_users), codes(train.n_items)
    recommender = fit(fitted, name, train)
    whole = bits(recommender, users, items)
    for start in range(0, len(users), 7):
        some_users, some_items = users[start : start + 7][::-1], items[start % 3 :: 3]
        assert (bits(recommender, some_users, some_items) == whole[np.ix_(some_users, some_items)]).all()
    pairs = np.random.default_rng(1).permutation(len(users) * len(items))
    predicted = recommender.predict_pairs(users[pairs // len(items)], items[pairs % len(items)]).values
    assert (predicted.view(np.uint64) == whole.ravel()[pairs]).all()
