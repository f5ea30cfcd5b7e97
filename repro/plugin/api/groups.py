"""Scores that are products of matrices, with the same bits in every request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray

IndexArray = npt.NDArray[np.integer[Any]]


class GroupedRows:
    """Rows of scores that are always computed for the same groups of users, and for all items.

    Products of matrices round differently for other shapes and positions, and a score must not depend on the others of
    a request. Users and items are numbered from 0; ``rows(first, end)`` gives the scores of all items for
    the users from ``first`` to before ``end``: ``size`` users, or fewer at the end. The last group is cached, because
    the next request often starts in it.
    """

    def __init__(self, n_users: int, size: int, rows: Callable[[int, int], npt.NDArray[Any]]) -> None:
        self._n_users, self._size, self._rows = n_users, size, rows
        self._cached: tuple[int, npt.NDArray[Any]] | None = None

    def block(self, users: IndexArray, items: IndexArray) -> FloatArray:
        """The scores of these users for these items, in double precision."""
        values = np.empty((len(users), len(items)))
        groups = users // self._size
        for group in np.unique(groups).tolist():
            inside = np.flatnonzero(groups == group)
            first, last = inside[0], inside[-1]
            where = slice(first, last + 1) if last - first + 1 == len(inside) else inside
            rows = _take(self._group(group), users[inside] - group * self._size, axis=0)
            values[where] = _take(rows, items, axis=1)
        return values

    def _group(self, group: int) -> npt.NDArray[Any]:
        if self._cached is None or self._cached[0] != group:
            first = group * self._size
            self._cached = group, self._rows(first, min(first + self._size, self._n_users))
        return self._cached[1]


def _take(values: npt.NDArray[Any], positions: IndexArray, axis: int) -> npt.NDArray[Any]:
    """The result of ``np.take``, without a copy if all positions are in their order."""
    if len(positions) == values.shape[axis] and (positions == np.arange(len(positions))).all():
        return values
    return np.take(values, positions, axis=axis)
