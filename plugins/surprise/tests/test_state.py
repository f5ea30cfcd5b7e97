"""Factors and biases of the state give the estimates of Surprise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import CheckedRecommender
from repro.testing.checks import score_all

Fit = Callable[..., CheckedRecommender]
FACTORS, BIASES = ["user_factors", "item_factors"], ["user_bias", "item_bias", "mean"]


@pytest.mark.parametrize(
    ("name", "parameters", "arrays"),
    [
        ("SVD", {"n_factors": 4, "n_epochs": 3}, FACTORS + BIASES),
        ("SVD", {"n_factors": 4, "n_epochs": 3, "biased": False}, FACTORS),
        ("SVDpp", {"n_factors": 4, "n_epochs": 2}, [*FACTORS, "implicit_factors", *BIASES]),
        ("NMF", {"n_factors": 4, "n_epochs": 3}, FACTORS),
        ("NMF", {"n_factors": 4, "n_epochs": 3, "biased": True}, FACTORS + BIASES),
        ("BaselineOnly", {}, BIASES),
        ("KNNBasic", {}, []),
        ("SlopeOne", {}, []),
    ],
)
def test_the_state_gives_the_estimates(
    name: str, parameters: dict[str, object], arrays: list[str], train: Interactions, fitted: Fit
) -> None:
    recommender = fitted(name, parameters, train)
    state = recommender.state()
    assert list(state) == arrays
    if not arrays:
        return
    known = np.ix_(train.user_counts() > 0, train.item_counts() > 0)
    expected = np.zeros((train.n_users, train.n_items))
    if "user_bias" in state:
        expected += state["mean"] + state["user_bias"][:, None] + state["item_bias"]
    if "user_factors" in state:
        users = state["user_factors"].copy()
        if "implicit_factors" in state:
            for user in np.flatnonzero(train.user_counts()):
                rated = train.items[train.users == user]
                users[user] += state["implicit_factors"][rated].sum(axis=0) / np.sqrt(len(rated))
        expected += users @ state["item_factors"].T
    np.testing.assert_allclose(expected[known], score_all(recommender, train).values[known], rtol=1e-9)
