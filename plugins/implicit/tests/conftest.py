"""MovieLens 100K with some users and items left without training rows, and a small table of ratings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import repro
from repro.data.interactions import Interactions


@pytest.fixture(scope="session")
def movielens() -> Interactions:
    """MovieLens 100K without the rows of every 50th user and every 40th item."""
    data = repro.load_dataset("ml-100k")
    return data.select((data.users % 50 != 7) & (data.items % 40 != 3))


@pytest.fixture(scope="session")
def train() -> Interactions:
    """40 users by 30 items, a third rated with 1 to 5; users 39 and 40 and items 29 and 30 have no rows."""
    rng = np.random.default_rng(20)
    ratings = rng.integers(1, 6, (40, 30)) * (rng.random((40, 30)) < 0.33)
    ratings[38:] = 0
    ratings[:, 28:] = 0
    users, items = np.indices(ratings.shape)
    frame = pd.DataFrame({"user": users.ravel() + 1, "item": items.ravel() + 1, "rating": ratings.ravel()})
    return Interactions.from_frame(frame).select(ratings.ravel() != 0)
