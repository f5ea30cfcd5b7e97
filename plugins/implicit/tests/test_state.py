"""Factors and biases of the state are those whose product implicit scores with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.testing import fitted
from repro.testing.checks import score_all


@pytest.mark.parametrize(
    ("name", "parameters", "arrays"),
    [
        ("implicit-als", {"factors": 7, "epochs": 3}, ["user_factors", "item_factors"]),
        ("bpr", {"factors": 9, "epochs": 5}, ["user_factors", "item_factors", "item_bias"]),
        ("logistic-mf", {"factors": 5, "epochs": 3}, ["user_factors", "item_factors", "user_bias", "item_bias"]),
    ],
)
def test_the_product_of_the_state_is_the_score(
    name: str, parameters: dict[str, Any], arrays: list[str], train: Interactions
) -> None:
    recommender = fitted(f"implicit/{name}", parameters, train)
    state = recommender.state()
    assert list(state) == arrays
    assert state["user_factors"].shape == (train.n_users, parameters["factors"])
    product = state["user_factors"] @ state["item_factors"].T
    product += (
        state.get("item_bias", np.zeros(train.n_items)) + state.get("user_bias", np.zeros(train.n_users))[:, None]
    )
    np.testing.assert_allclose(product, score_all(recommender, train).values, rtol=1e-5, atol=1e-6)


def test_neighbours_have_no_state(train: Interactions) -> None:
    assert fitted("implicit/item-knn", {"k": 5}, train).state() == {}
