"""Sorting millions of rows by several columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import RowArray

Column = npt.NDArray[Any]
Groups = npt.NDArray[np.signedinteger[Any]]
Words = npt.NDArray[np.uint64]

_WORD = np.uint64(32)


def sorted_rows(columns: Sequence[Column], groups: Groups | None = None) -> RowArray:
    """The row numbers by group, then by the first column, the second and so on; equal rows as they are stored.

    The same as ``np.lexsort([*columns[::-1], groups])``, several times faster: ``lexsort`` sorts all rows by every
    column, and this function only those that are still equal, by one number made of their run of equal rows and their
    next word.
    """
    size = len(columns[0])
    order = np.arange(size)
    places = np.arange(size)  # of the order, that are not settled
    runs = np.zeros(size, dtype=np.uint64) if groups is None else groups.astype(np.uint64)
    for words in chain(chain.from_iterable(map(_words, columns)), [np.arange(size, dtype=np.uint64)]):
        rows = order[places]
        packed = (runs << _WORD) | words[rows]
        sorting = np.argsort(packed)
        order[places] = rows[sorting]
        packed = packed[sorting]
        same = packed[1:] == packed[:-1]
        if not same.any():
            break
        as_before = np.concatenate(([False], same))
        open_ = as_before | np.concatenate((same, [False]))
        places = places[open_]
        runs = np.cumsum(~as_before)[open_].astype(np.uint64)
    return order


def _words(column: Column) -> Iterator[Words]:
    """Numbers below 2**32 that sort as the column does: one for each row, or two where the range is wide."""
    if column.dtype.kind == "f":
        column = np.unique(column, return_inverse=True)[1]
    above = column.astype(np.uint64) - np.uint64(int(column.min()) % 2**64)  # modulo 2**64, as signed times need
    if int(above.max()) >> int(_WORD):
        yield above >> _WORD
        above &= np.uint64(2**32 - 1)
    yield above
