"""Codes for short texts, as Arrow's views hold them: in the 16 bytes of a row, which are compared as two numbers."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from repro.compiling import compiled

_LONGEST = 12  # bytes; longer texts are elsewhere, and their row has the place
_MOST, _LENGTH = np.uint64(_LONGEST), np.uint64(0xFFFFFFFF)
_FIRST, _SECOND, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(32)


def short_text_codes(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.int32], list[str]] | None:
    """The code of each text in a column of string views, and the distinct ones in order of first appearance.

    None where a text is long or missing.
    """
    if sys.byteorder != "little" or column.null_count or not len(column):
        return None
    chunks = [_words(chunk) for chunk in column.chunks if len(chunk)]
    words = chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
    codes, firsts = _encode(words)
    return (codes, _texts(words[firsts])) if len(codes) else None


def _words(array: pa.Array) -> npt.NDArray[np.uint64]:
    """The 16 bytes of each row as two numbers."""
    words = np.frombuffer(array.buffers()[1], dtype=np.uint64).reshape(-1, 2)
    return words[array.offset : array.offset + len(array)]


def _texts(words: npt.NDArray[np.uint64]) -> list[str]:
    """The texts of rows: four bytes with the length, and twelve with the text."""
    content = words.view(np.uint8)
    lengths = words.view(np.int32)[:, 0]
    text = content[:, 4:][np.arange(_LONGEST) < lengths[:, None]]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(text)]
    texts: list[str] = pa.Array.from_buffers(pa.string(), len(words), buffers).to_pylist()
    return texts


@compiled()
def _encode(words):  # type: ignore[no-untyped-def]  # compiled
    """The code and the first row of each text, by a hash table with open addressing; empty where a text is long."""
    codes, firsts = np.empty(len(words), np.int32), np.empty(len(words), np.int64)
    row, count = 0, 0
    size = 1024
    while row < len(words):
        size *= 4
        keys, of_slot = _table(words, firsts[:count], size)
        row, count = _fill(words, row, keys, of_slot, codes, firsts, count)
        if row < 0:
            return codes[:0].copy(), firsts[:0].copy()
    return codes, firsts[:count].copy()


@compiled(stored=False)
def _fill(words, start, keys, of_slot, codes, firsts, count):  # type: ignore[no-untyped-def]  # compiled
    """Code rows until the table has too many entries: the next row, or -1 at a long text, and the number of texts."""
    size = len(of_slot)
    code, before_low, before_high = np.int32(-1), np.uint64(0), np.uint64(0)
    for row in range(start, len(words)):
        low, high = words[row, 0], words[row, 1]
        if code < 0 or low != before_low or high != before_high:
            if (low & _LENGTH) > _MOST:
                return -1, count
            before_low, before_high = low, high
            slot = _slot(low, high, size)
            code = of_slot[slot]
            while code >= 0 and (keys[slot, 0] != low or keys[slot, 1] != high):
                slot = (slot + 1) & (size - 1)
                code = of_slot[slot]
            if code < 0:
                if 4 * count >= size:
                    return row, count
                code = np.int32(count)
                firsts[count] = row
                of_slot[slot] = code
                keys[slot, 0] = low
                keys[slot, 1] = high
                count += 1
        codes[row] = code
    return len(words), count


@compiled(stored=False)
def _table(words, firsts, size):  # type: ignore[no-untyped-def]  # compiled
    """A table of the texts that are known."""
    keys, of_slot = np.empty((size, 2), np.uint64), np.full(size, -1, np.int32)
    for code in range(len(firsts)):
        low, high = words[firsts[code], 0], words[firsts[code], 1]
        slot = _slot(low, high, size)
        while of_slot[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        of_slot[slot] = code
        keys[slot, 0] = low
        keys[slot, 1] = high
    return keys, of_slot


@compiled(stored=False)
def _slot(low, high, size):  # type: ignore[no-untyped-def]  # compiled
    """The place in a table of a power of two: the high bits of a product, which all bits of the text affect."""
    mixed = (low ^ (low >> _HALF)) * _FIRST ^ (high ^ (high >> _HALF)) * _SECOND
    return np.int64((mixed ^ (mixed >> _HALF)) & np.uint64(size - 1))
