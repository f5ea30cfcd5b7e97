"""Rows of different lengths, stored end to end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.compiling import compiled
from repro.data.interactions import CodeArray, RowArray
from repro.evaluation.candidates.lists import Offsets

IntArray = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Ragged:
    """Ascending codes for each row: those of row ``n`` are ``values[offsets[n]:offsets[n + 1]]``."""

    offsets: Offsets
    values: CodeArray

    @classmethod
    def of_pairs(cls, rows: IntArray, values: IntArray, n_rows: int) -> Ragged:
        """Build from pairs of a row and a value in any order; repeated pairs count once."""
        return cls(*_by_row(rows.astype(np.int64, copy=False), values.astype(np.int32, copy=False), n_rows))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> RowArray:
        return np.diff(self.offsets)

    @property
    def rows(self) -> RowArray:
        """The row of each value."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, rows: IntArray) -> Ragged:
        """The given rows, in that order; rows may repeat."""
        positions, offsets = spread(self.offsets, rows)
        return Ragged(offsets, self.values[positions])

    def keep(self, mask: npt.NDArray[np.bool_]) -> Ragged:
        """The same rows with only the values where ``mask`` is True."""
        before = np.concatenate([[0], np.cumsum(mask)])
        return Ragged(before[self.offsets], self.values[mask])

    def contains(self, rows: IntArray, values: IntArray) -> npt.NDArray[np.bool_]:
        """For each pair of a row and a value, whether that row contains that value."""
        width, pairs = self._pairs
        if not len(pairs):
            return np.zeros(len(rows), dtype=np.bool_)
        requested_pairs = rows.astype(np.int64) * width + values
        is_present = pairs[np.minimum(np.searchsorted(pairs, requested_pairs), len(pairs) - 1)] == requested_pairs
        return is_present & (values >= 0) & (values < width)

    @cached_property
    def _pairs(self) -> tuple[int, RowArray]:
        """The factor between rows, and row and value of every pair as a single ascending number."""
        width = int(self.values.max()) + 1 if len(self.values) else 1
        return width, self.rows * width + self.values


@compiled()
def _by_row(rows, values, n_rows):  # type: ignore[no-untyped-def]  # compiled
    """Offsets and values; the values of a row are ascending and distinct."""
    offsets = np.zeros(n_rows + 1, dtype=np.int64)
    for row in rows:
        offsets[row + 1] += 1
    offsets = np.cumsum(offsets)
    placed, free = np.empty(len(values), dtype=np.int32), offsets.copy()
    for position, row in enumerate(rows):
        placed[free[row]] = values[position]
        free[row] += 1
    kept = start = 0
    for row in range(n_rows):
        end = offsets[row + 1]
        offsets[row] = kept
        row_values = placed[start:end]
        if not _ascending(row_values):
            row_values.sort()
        for position in range(start, end):
            if position == start or placed[position] != placed[kept - 1]:
                placed[kept] = placed[position]
                kept += 1
        start = end
    offsets[n_rows] = kept
    return offsets, placed[:kept].copy()


@compiled()
def _ascending(values):  # type: ignore[no-untyped-def]  # compiled
    ascending = True
    for position in range(1, len(values)):
        ascending &= values[position - 1] <= values[position]
    return ascending


def offsets_of(lengths: IntArray | npt.NDArray[np.bool_]) -> Offsets:
    """The start of each row, and the end of the last one."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def spread(offsets: Offsets, rows: IntArray) -> tuple[RowArray, Offsets]:
    """The positions of all values of ``rows``, end to end, and the offsets of these rows among them."""
    starts = offsets[:-1][rows]
    lengths = offsets[1:][rows] - starts
    spread_offsets = offsets_of(lengths)
    return np.arange(spread_offsets[-1]) + np.repeat(starts - spread_offsets[:-1], lengths), spread_offsets
