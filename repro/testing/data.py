"""Training data for tests: small tables, and parts of MovieLens 100K, with users and items that have no rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data import load_dataset
from repro.data.interactions import Interactions
from repro.plugin import History, Queries


def ratings_table(table: npt.ArrayLike, timestamps: npt.ArrayLike | None = None) -> Interactions:
    """Rows from a table of users by items, in which 0 is no rating; all users and items keep their ids, from 1."""
    import pandas as pd

    ratings = np.asarray(table, dtype=np.float64)
    users, items = np.indices(ratings.shape)
    columns: dict[str, npt.NDArray[Any]] = {"user": np.add(users, 1), "item": np.add(items, 1), "rating": ratings}
    if timestamps is not None:
        columns["timestamp"] = np.asarray(timestamps)
    frame = pd.DataFrame({name: column.ravel() for name, column in columns.items()})
    return Interactions.from_frame(frame).select(ratings.ravel() != 0)


def small_ratings(*, timestamps: bool = False) -> Interactions:
    """40 users by 30 items, a third rated with 1 to 5; users 39 and 40 and items 29 and 30 have no rows.

    With ``timestamps``, each row has another day, in random order.
    """
    rng = np.random.default_rng(20)
    ratings = rng.integers(1, 6, (40, 30)) * (rng.random((40, 30)) < 0.33)
    ratings[38:] = 0
    ratings[:, 28:] = 0
    days = rng.permutation(ratings.size).reshape(ratings.shape) * 86_400
    return ratings_table(ratings, days if timestamps else None)


def queries_of(users: npt.ArrayLike) -> Queries:
    """Queries of these users without a history, for a recommender that needs none."""
    return Queries(np.asarray(users, dtype=np.int32), History(None))


def movielens_part(*, every_user: int = 50, every_item: int = 40) -> Interactions:
    """MovieLens 100K without the rows of every 50th user and every 40th item."""
    rows = load_dataset("ml-100k")
    return rows.select((rows.users % every_user != 7) & (rows.items % every_item != 3))


def movielens_fifths() -> Interactions:
    """Four fifths of MovieLens 100K; the first six users and eight items have no rows."""
    rows = load_dataset("ml-100k")
    return rows.select((rows.users > 5) & (rows.items > 7) & (np.arange(len(rows)) % 5 > 0))
