"""Ids that are whole numbers: whether the text of each is canonical (007 is not the id 7), and their codes."""

from __future__ import annotations

import io
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa

from repro.compiling import compiled

_ZERO, _NINE, _MINUS, _POINT, _HEX, _LARGE_HEX = (np.uint8(byte) for byte in b"09-.xX")
_SPARSEST = 4  # a lookup table may have this many entries for each row


class WatchedStream(io.RawIOBase):
    """A stream that looks for numbers in its bytes that are not written canonically.

    These are zeros before other digits, hexadecimal numbers, and a zero with a sign: all that Arrow parses as a number
    but that is printed otherwise. The same characters within text count as well.
    """

    def over(self, stream: Any) -> Self:
        """Start to read from a stream."""
        self._stream = stream
        self._end = b"\n\n"
        self.has_noncanonical_number = False
        return self

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> pa.Buffer:  # Arrow takes it as bytes, without a copy
        block = self._stream.read_buffer(size)
        if block.size and not self.has_noncanonical_number:
            border = self._end + block[:2].to_pybytes()  # a number may be split between two blocks
            parts = (np.frombuffer(part, dtype=np.uint8) for part in (border, block))
            self.has_noncanonical_number = any(bool(_has_noncanonical(part)) for part in parts)
            self._end = (self._end + block[-2:].to_pybytes())[-2:]
        return block


@compiled()
def _has_noncanonical(content):  # type: ignore[no-untyped-def]  # compiled
    """Whether a number among bytes is not canonical; without branches, so that the loop is vectorised."""
    first, middle, last = content[:-2], content[1:-1], content[2:]
    noncanonical = False
    for at in range(len(last)):
        before, byte, after = first[at], middle[at], last[at]
        within = ((before >= _ZERO) & (before <= _NINE)) | (before == _POINT)
        longer = ((after >= _ZERO) & (after <= _NINE)) | (after == _HEX) | (after == _LARGE_HEX)
        noncanonical |= ((byte == _ZERO) & longer & (within ^ True)) | ((byte == _MINUS) & (after == _ZERO))
    return noncanonical


def number_codes(column: pa.ChunkedArray) -> pd.Categorical:
    """Whole numbers as codes of the distinct ones, in ascending order."""
    chunks = [chunk.to_numpy() for chunk in column.chunks if len(chunk)]
    low, high = (int(min(map(np.min, chunks))), int(max(map(np.max, chunks)))) if len(column) else (0, -1)
    if high - low > _SPARSEST * len(column):
        ids, codes = np.unique(np.concatenate(chunks), return_inverse=True)
    else:
        present = np.zeros(high - low + 1, dtype=np.bool_)
        for chunk in chunks:
            _mark(chunk, low, present)
        ids, ranks = np.flatnonzero(present) + low, np.cumsum(present, dtype=np.int32) - np.int32(1)
        codes, first = np.empty(len(column), dtype=np.int32), 0
        for chunk in chunks:
            _look_up(chunk, low, ranks, codes[first : first + len(chunk)])
            first += len(chunk)
    return pd.Categorical.from_codes(codes, pd.Index(ids, dtype=np.int64))  # type: ignore[arg-type]


@compiled()
def _mark(values, low, present):  # type: ignore[no-untyped-def]  # compiled
    for value in values:
        present[value - low] = True


@compiled()
def _look_up(values, low, ranks, codes):  # type: ignore[no-untyped-def]  # compiled
    for row, value in enumerate(values):
        codes[row] = ranks[value - low]
