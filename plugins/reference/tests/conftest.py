"""Small data: a table of ratings, and a training set that leaves some users and items without rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from repro.data.interactions import Interactions


def from_table(table: npt.ArrayLike) -> Interactions:
    """Users by items, 0 where there is no rating; all users and items keep their ids, rated or not."""
    ratings = np.asarray(table, dtype=np.float64)
    users, items = np.indices(ratings.shape)
    frame = pd.DataFrame({"user": users.ravel() + 1, "item": items.ravel() + 1, "rating": ratings.ravel()})
    return Interactions.from_frame(frame).select(ratings.ravel() != 0)


@pytest.fixture(scope="session")
def table() -> Callable[[npt.ArrayLike], Interactions]:
    return from_table


@pytest.fixture(scope="session")
def train() -> Interactions:
    """40 users by 30 items, a third rated with 1 to 5; users 39 and 40 and items 29 and 30 have no rows."""
    rng = np.random.default_rng(20)
    ratings = rng.integers(1, 6, (40, 30)) * (rng.random((40, 30)) < 0.33)
    ratings[38:] = 0
    ratings[:, 28:] = 0
    return from_table(ratings)
