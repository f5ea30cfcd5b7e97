"""Another seed gives other scores, nothing is printed, and scores do not depend on the block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import CheckedRecommender
from repro.testing.checks import bits, check_blocks, codes, score_all
from repro_surprise.classes import CLASSES

Fit = Callable[..., CheckedRecommender]
PARAMETERS: dict[str, dict[str, Any]] = {
    "SVDpp": {"n_epochs": 2, "n_factors": 5},
    "NMF": {"n_epochs": 5},
    "KNNWithMeans": {"sim_user_based": False},
}
RANDOM = {"SVD", "SVDpp", "NMF", "CoClustering", "NormalPredictor"}
each = pytest.mark.parametrize("name", CLASSES)


def fit(fitted: Fit, name: str, train: Interactions, seed: int = 5) -> CheckedRecommender:
    return fitted(name, PARAMETERS.get(name, {}), train, seed)


@each
def test_another_seed_gives_other_scores_where_there_is_chance(name: str, train: Interactions, fitted: Fit) -> None:
    first, second = (bits(score_all(fit(fitted, name, train, seed), train)) for seed in (5, 6))
    assert (first != second).any() == (name in RANDOM)


@each
def test_nothing_is_printed(name: str, train: Interactions, fitted: Fit, capfd: pytest.CaptureFixture[str]) -> None:
    fit(fitted, name, train).score_users(codes(5), codes(5))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", sorted(set(CLASSES) - {"SVD", "SVDpp", "NMF"}))
def test_scores_do_not_depend_on_the_block(name: str, train: Interactions, fitted: Fit) -> None:
    """Except for products of factors, whose last bits depend on the shape of a block."""
    users, items = codes(train.n_users), codes(train.n_items)
    recommender = fit(fitted, name, train)
    expected = score_all(recommender, train)
    check_blocks(recommender, train, expected)
    pairs = np.random.default_rng(1).permutation(len(users) * len(items))
    predicted = recommender.predict_pairs(users[pairs // len(items)], items[pairs % len(items)])
    assert (bits(predicted) == bits(expected).ravel()[pairs]).all()
