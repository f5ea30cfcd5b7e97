"""Mean ratings: of all rows, of each user, of each item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.errors import DataError


@dataclass(frozen=True, eq=False)
class RatingMeans:
    """Mean ratings by code of user and item; users and items without rows have the overall mean.

    The means are bit-identical for any order of the rows, and the mean of equal ratings is exactly that rating: a user
    who always gives 3.3 has a mean of 3.3.
    """

    overall: float
    users: FloatArray
    items: FloatArray

    @classmethod
    def of(cls, rows: Interactions) -> RatingMeans:
        """The means of these rows."""
        if not len(rows):
            raise DataError("there are no training rows to take mean ratings from; choose a rule without means")
        rows = rows.canonical()
        everything = np.zeros(len(rows), dtype=np.int32)
        overall = float(_means(everything, rows.ratings, 1, 0.0)[0])
        return cls(
            overall,
            _means(rows.users, rows.ratings, rows.n_users, overall),
            _means(rows.items, rows.ratings, rows.n_items, overall),
        )


def _means(codes: CodeArray, ratings: FloatArray, size: int, default: float) -> FloatArray:
    """The lowest rating of each code plus the mean difference from it."""
    counts = np.bincount(codes, minlength=size)
    lowest = np.full(size, np.inf)
    np.minimum.at(lowest, codes, ratings)
    above = np.bincount(codes, weights=ratings - lowest[codes], minlength=size)
    present = counts > 0
    return np.where(present, np.where(present, lowest, 0.0) + above / np.maximum(counts, 1), default)
