"""The factor matrices of a fitted model, and their products."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray
from repro.plugin import GroupedRows, Scores

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# How many users are multiplied at a time.
_GROUP_SIZE = 256
FactorArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Factors:
    """One row for each code; NaN for a code without training rows."""

    users: FactorArray
    items: FactorArray

    @cached_property
    def _products(self) -> GroupedRows:
        return GroupedRows(len(self.users), _GROUP_SIZE, lambda first, end: self.users[first:end] @ self.items.T)

    def block(self, users: CodeArray, items: CodeArray) -> Scores:
        """Users by items."""
        return Scores.from_nan(self._products.block(users, items))

    def pairs(self, users: CodeArray, items: CodeArray) -> Scores:
        """One value for each pair."""
        values = np.einsum("nf,nf->n", self.users[users], self.items[items])
        return Scores.from_nan(values.astype(np.float64))


def collected(frame: DataFrame, size: int) -> FactorArray:
    """The factors of a model's data frame of ``id`` and ``features``, as rows of a matrix by code."""
    table: Any = frame.toArrow()
    ids = table.column("id").to_numpy()
    features = table.column("features").combine_chunks().flatten().to_numpy().reshape(len(ids), -1)
    factors = np.full((size, features.shape[1]), np.nan, dtype=np.float32)
    factors[ids] = features
    return factors
