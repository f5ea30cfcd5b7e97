"""Factors, biases and mean of the state give the scores of LensKit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.testing import fitted
from repro.testing.checks import score_all

FACTORS, BIASES = ["user_factors", "item_factors"], ["user_bias", "item_bias", "mean"]
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(
    ("name", "parameters", "arrays"),
    [
        ("biased-mf", {"factors": 5, "epochs": 3, "user_embeddings": "prefer"}, FACTORS + BIASES),
        ("implicit-als", {"factors": 5, "epochs": 3, "user_embeddings": "prefer"}, FACTORS),
        ("FunkSVDScorer", {"embedding_size": 3, "epochs": 5}, FACTORS + BIASES),
        ("BiasedSVDScorer", {"embedding_size": 3}, FACTORS + BIASES),
        ("nmf", {"factors": 3}, FACTORS),
        ("FlexMFExplicitScorer", {"embedding_size": 4, "epochs": 2}, [*FACTORS, "mean"]),
        ("bpr", {"factors": 4, "epochs": 2}, FACTORS),
        ("logistic-mf", {"factors": 4, "epochs": 2, "reg_method": "none"}, FACTORS),
    ],
)
def test_the_state_gives_the_scores(
    name: str, parameters: dict[str, Any], arrays: list[str], train: Interactions
) -> None:
    recommender = fitted(f"lenskit/{name}", parameters, train)
    state = recommender.state()
    assert list(state) == arrays
    expected = state["user_factors"] @ state["item_factors"].T + state.get("mean", 0.0)
    expected += state.get("item_bias", np.zeros(train.n_items))
    expected += state.get("user_bias", np.zeros(train.n_users))[:, None]
    np.testing.assert_allclose(expected, score_all(recommender, train).values, rtol=1e-4, atol=1e-5)


def test_factors_that_are_not_kept_are_no_state(train: Interactions) -> None:
    assert fitted("lenskit/implicit-als", {"factors": 3, "user_embeddings": "false"}, train).state() == {}
    assert fitted("lenskit/ease", {}, train).state() == {}
