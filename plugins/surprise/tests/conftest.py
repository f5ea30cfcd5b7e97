"""Training rows, and the estimates of Surprise itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from surprise import AlgoBase, Dataset, Reader

import repro
from repro.data.interactions import Interactions
from repro.plugin import FALLBACK, SCORED, CheckedRecommender, Scores, parameters_of, plugins

SEED = 7


def small(seed: int, values: npt.ArrayLike) -> Interactions:
    """60 users by 40 items, a third rated with one of ``values``, in random order; some users and items are unknown."""
    rng = np.random.default_rng(seed)
    users, items = np.nonzero(rng.random((60, 40)) < 0.35)
    frame = pd.DataFrame({"user": users + 100, "item": items + 1000, "rating": rng.choice(values, len(users))})
    rows = Interactions.from_frame(frame)
    known = (rows.users < 57) & (rows.items % 13 != 5)
    return rows.select(rng.permutation(np.flatnonzero(known)))


@pytest.fixture(scope="session")
def train() -> Interactions:
    """Whole ratings from 1 to 5, so that many similarities are equal."""
    return small(3, [1.0, 2.0, 3.0, 4.0, 5.0])


@pytest.fixture(scope="session")
def decimals() -> Interactions:
    """Few different ratings that binary numbers cannot represent: some of Pearson's correlations are NaN."""
    return small(4, [0.1, 0.7, 0.7, 0.7, 0.7])


@pytest.fixture(scope="session")
def ml100k() -> Interactions:
    """MovieLens 100K in the order of its file, without the rows of some users and items."""
    rows = repro.load_dataset("ml-100k")
    return rows.select((rows.users % 100 != 17) & (rows.items % 50 != 3))


@pytest.fixture(scope="session")
def fitted() -> Callable[..., CheckedRecommender]:
    """An algorithm of this plug-in, fitted."""

    def fit(name: str, parameters: dict[str, Any], train: Interactions, seed: int = SEED) -> CheckedRecommender:
        _, algorithm = plugins().algorithm(f"surprise/{name}")
        assert algorithm.deterministic
        recommender = CheckedRecommender(algorithm.make(**parameters_of(algorithm, parameters)), f"surprise/{name}")
        recommender.fit(train, seed=seed)
        return recommender

    return fit


@pytest.fixture(scope="session")
def surprise_says() -> Callable[..., Scores]:
    """The predictions of an algorithm of Surprise for pairs, one by one; raw ids are external ids."""

    def ask(algorithm: AlgoBase, train: Interactions, users: npt.NDArray[Any], items: npt.NDArray[Any]) -> Scores:
        reader = Reader(rating_scale=(train.ratings.min(), train.ratings.max()))
        algorithm.fit(Dataset.load_from_df(train.to_frame()[["user", "item", "rating"]], reader).build_full_trainset())
        pairs = zip(train.user_ids[users], train.item_ids[items], strict=True)
        predictions = [algorithm.predict(user, item, clip=False) for user, item in pairs]
        impossible = np.array([prediction.details["was_impossible"] for prediction in predictions])
        return Scores(
            np.array([prediction.est for prediction in predictions]),
            np.where(impossible, FALLBACK, SCORED).astype(np.uint8),
        )

    return ask
