"""Small training sets on which definitions of an algorithm give different scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray, Interactions

START, SPAN = 1_500_000_000, 3 * 365 * 86_400
STARS = (1.0, 2.0, 3.0, 4.0, 5.0)


@dataclass(frozen=True)
class Shape:
    """A shape of training sets: the number of users and items, the share of pairs with a row, and the ratings."""

    users: int
    items: int
    density: float
    ratings: tuple[float, ...] = STARS


# The first ones show most decisions, so that few definitions are left for the others.
SHAPES = (
    Shape(8, 7, 0.6),
    Shape(6, 9, 0.45),
    Shape(12, 6, 0.5),
    Shape(5, 5, 0.8),
    Shape(9, 9, 0.3),
    Shape(8, 7, 0.6, (1.0,)),
    Shape(4, 4, 0.6),
    Shape(10, 12, 0.4, (0.5, 1.5, 2.0, 3.5, 4.5)),
    Shape(7, 8, 0.5, (1.0, 2.0, 7.0, 40.0)),
    Shape(16, 10, 0.35),
)


def training_set(seed: int, number: int) -> Interactions:
    """The training set with that number; every user and item has a row."""
    return _drawn(SHAPES[number % len(SHAPES)], np.random.default_rng([seed, number]))


def first_sets(compared: str, k: int, seed: int) -> list[Interactions]:
    """Training sets in which all others are among the ``k`` nearest neighbours of the ``compared`` users or items, so
    that few decisions have an effect; none where nothing is compared."""
    few = min(max(k, 2), 5)
    shapes = {"items": (20, few), "users": (few, 20)}
    if compared not in shapes or k < 2:
        return []
    kinds = (1.0,), *[STARS] * 9
    return [
        _drawn(Shape(*shapes[compared], 0.6, ratings), np.random.default_rng([seed, 3571, number]))
        for number, ratings in enumerate(kinds)
    ]


def _drawn(shape: Shape, rng: np.random.Generator) -> Interactions:
    present = rng.random((shape.users, shape.items)) < shape.density
    for user in np.flatnonzero(~present.any(axis=1)):
        present[user, rng.integers(shape.items)] = True
    for item in np.flatnonzero(~present.any(axis=0)):
        present[rng.integers(shape.users), item] = True
    ratings = rng.choice(shape.ratings, size=present.shape)
    rows = rows_of(np.where(present, ratings, np.nan))
    return replace(rows, timestamps=moments(rng, len(rows)))


def moments(rng: np.random.Generator, count: int) -> npt.NDArray[np.int64]:
    """Timestamps of rows: seconds within three years, each another one."""
    return START + rng.permutation(np.arange(count, dtype=np.int64) * (SPAN // max(count, 1)))


def rows_of(table: FloatArray) -> Interactions:
    """The interactions of a table of users by items, NaN where there is no row; ids are the numbers from 1."""
    users, items = np.nonzero(~np.isnan(table))
    ratings = table[users, items]
    return interactions(users, items, ratings, table.shape)


def interactions(
    users: npt.ArrayLike,
    items: npt.ArrayLike,
    ratings: npt.ArrayLike,
    shape: Sequence[int],
    timestamps: npt.NDArray[np.int64] | None = None,
) -> Interactions:
    """Interactions of codes, in a catalogue of ``shape`` users and items; with ratings unless all are 1."""
    values = np.asarray(ratings, dtype=np.float64)
    return Interactions(
        np.asarray(users, dtype=np.int32),
        np.asarray(items, dtype=np.int32),
        values,
        timestamps,
        np.arange(1, shape[0] + 1),
        np.arange(1, shape[1] + 1),
        explicit=bool(len(values) == 0 or (values != 1.0).any()),
    )
