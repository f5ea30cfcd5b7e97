"""The two factor matrices that are left of a model, and their products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray
from repro.plugin import SCORED, UNSCORED, Scores

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Users are multiplied in these same groups whoever is asked for, so that a score has the same bits in every block.
_GROUP = 256


@dataclass(frozen=True)
class Factors:
    """One row for each code; that of a code without training rows is not a number."""

    users: FloatArray
    items: FloatArray

    def block(self, users: CodeArray, items: CodeArray) -> Scores:
        """Users by items."""
        values = np.empty((len(users), len(items)))
        groups = users // _GROUP
        for group in np.unique(groups):
            inside = groups == group
            products = self.users[group * _GROUP : (group + 1) * _GROUP] @ self.items.T
            values[inside] = products[np.ix_(users[inside] - group * _GROUP, items)]
        return _marked(values)

    def pairs(self, users: CodeArray, items: CodeArray) -> Scores:
        """One value for each pair."""
        return _marked((self.users[users] * self.items[items]).sum(axis=1))


def collected(frame: DataFrame, size: int) -> FloatArray:
    """The factors of a model's data frame of ``id`` and ``features``, as rows of a matrix by code."""
    table: Any = frame.toArrow()
    ids = table.column("id").to_numpy()
    features = table.column("features").combine_chunks().flatten().to_numpy().reshape(len(ids), -1)
    factors = np.full((size, features.shape[1]), np.nan)
    factors[ids] = features
    return factors


def _marked(values: FloatArray) -> Scores:
    unknown = np.isnan(values)
    state: npt.NDArray[np.uint8] = np.where(unknown, UNSCORED, SCORED).astype(np.uint8)
    return Scores(values, state)
