"""Scores from the nearest neighbours of each target.

Sums start with the nearest neighbour, and of equally near ones with that of the lower code (the lower id), or of the
higher one. So a score depends only on its own user and item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray

DIVIDE = ("no", "sum", "absolute", "count")


@dataclass(frozen=True)
class Sums:
    """The rule that turns the ratings of neighbours into a score.

    k         how many of the nearest neighbours with a rating take part; 0: all of them
    fewest    fewest neighbours for a score
    divide    by nothing ("no"), the sum of similarities ("sum"), that of their absolute values ("absolute"), or the
              number of neighbours ("count")
    added     is added to what is divided by, so that it is not 0
    """

    k: int = 0
    fewest: int = 1
    divide: str = "no"
    added: float = 0.0

    def numbers(self) -> tuple[int, int, int, float]:
        return int(self.k), int(self.fewest), DIVIDE.index(self.divide), float(self.added)


class Lists:
    """Lists of ratings, each with at most one of each neighbour; by list, and by neighbour."""

    def __init__(self, matrix: csr_array) -> None:
        holders = csr_array(matrix.T)
        self.matrix, self.width = matrix, matrix.shape[0]
        self.by_list = _arrays(matrix)
        self.by_neighbour = _arrays(holders)


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of each target, nearest first: those of target t are at ``starts[t]`` to ``starts[t + 1]``."""

    starts: CodeArray
    codes: CodeArray
    similarities: FloatArray

    @classmethod
    def nearest(cls, similarities: FloatArray, most: int) -> Neighbours:
        """The ``most`` nearest neighbours of each row of a matrix of similarities, the positive ones."""
        order = np.argsort(-similarities, axis=1, kind="stable")[:, :most].astype(np.int32)
        nearest = np.take_along_axis(similarities, order, axis=1)
        counts = (nearest > 0.0).sum(axis=1)
        return cls(np.concatenate([[0], np.cumsum(counts)]), order[nearest > 0.0], nearest[nearest > 0.0])

    def by_target(self, absolute: bool = False, higher_code: bool = False) -> Neighbours:
        """From the targets of each neighbour, the neighbours of each target."""
        size = len(self.starts) - 1
        neighbours = np.repeat(np.arange(size, dtype=np.int32), np.diff(self.starts))
        keys = -np.abs(self.similarities) if absolute else -self.similarities
        order = np.lexsort((-neighbours if higher_code else neighbours, keys, self.codes))
        counts = np.bincount(self.codes, minlength=size)
        return Neighbours(np.concatenate([[0], np.cumsum(counts)]), neighbours[order], self.similarities[order])

    def shares(self, of: str) -> Neighbours:
        """The similarities of each target, or of each neighbour, divided by the sum of their absolute values."""
        size = len(self.starts) - 1
        of_entries = np.repeat(np.arange(size), np.diff(self.starts)) if of == "target" else self.codes
        sums = np.bincount(of_entries, weights=np.abs(self.similarities), minlength=size)
        return Neighbours(self.starts, self.codes, self.similarities / sums[of_entries])

    def block(self, targets: CodeArray, lists: Lists, sums: Sums) -> FloatArray:
        """Targets by lists: the ratings in a list, weighted by similarity; NaN without enough of them."""
        wanted = np.asarray(targets, dtype=np.int64)
        kernel = _selected if sums.k > 0 else _scattered
        ratings = lists.by_list if sums.k > 0 else lists.by_neighbour
        values: FloatArray = kernel(*self._arrays(), wanted, *ratings, lists.width, *sums.numbers())
        return values

    def pairs(self, targets: CodeArray, lists: csr_array, which: CodeArray, sums: Sums) -> FloatArray:
        """As :meth:`block`, for target n and list ``which[n]`` only."""
        wanted, lines = (np.asarray(codes, dtype=np.int64) for codes in (targets, which))
        values: FloatArray = _gathered(*self._arrays(), wanted, *_arrays(lists), lines, *sums.numbers())
        return values

    def _arrays(self) -> tuple[CodeArray, CodeArray, FloatArray]:
        return self.starts, self.codes, self.similarities


def _arrays(matrix: csr_array) -> tuple[Any, Any, Any]:
    """The arrays of a sparse matrix, of the same types for all matrices."""
    return (
        np.asarray(matrix.indptr, dtype=np.int64),
        np.asarray(matrix.indices, dtype=np.int32),
        np.asarray(matrix.data, dtype=np.float64),
    )


@njit(cache=True)
def _scattered(starts, codes, similarities, targets, indptr, lists, ratings, width, k, fewest, divide, added):  # type: ignore[no-untyped-def]
    """Each neighbour, nearest first, adds its ratings to the lists that have one of it."""
    values = np.zeros((len(targets), width))
    weights = np.empty(width)
    counts = np.empty(width, dtype=np.int64)
    for n in range(len(targets)):
        weights[:] = 0.0
        counts[:] = 0
        for m in range(starts[targets[n]], starts[targets[n] + 1]):
            similarity = similarities[m]
            weight = abs(similarity) if divide == 2 else similarity
            for p in range(indptr[codes[m]], indptr[codes[m] + 1]):
                place = lists[p]
                counts[place] += 1
                weights[place] += weight
                values[n, place] += similarity * ratings[p]
        for place in range(width):
            values[n, place] = _score(values[n, place], weights[place], counts[place], fewest, divide, added)
    return values


@njit(cache=True)
def _selected(starts, codes, similarities, targets, indptr, holders, ratings, width, k, fewest, divide, added):  # type: ignore[no-untyped-def]
    """The same sums, of the k nearest in each list: the ranks of its neighbours are the bits of words, which give the
    nearest ones in their order."""
    size = len(starts) - 1
    values = np.empty((len(targets), width))
    rank_of = np.full(size, -1, dtype=np.int32)
    place_at = np.empty(size, dtype=np.int64)
    words = np.zeros(size // 64 + 1, dtype=np.uint64)
    one = np.uint64(1)
    for n in range(len(targets)):
        start, end = starts[targets[n]], starts[targets[n] + 1]
        for m in range(start, end):
            rank_of[codes[m]] = m - start
        n_words = (end - start + 63) >> 6
        for line in range(width):
            present = 0
            for p in range(indptr[line], indptr[line + 1]):
                rank = rank_of[holders[p]]
                if rank >= 0:
                    words[rank >> 6] |= one << np.uint64(rank & 63)
                    place_at[rank] = p
                    present += 1
            total, weight, count = 0.0, 0.0, 0
            if present > 0:
                for w in range(n_words):
                    word = words[w]
                    words[w] = 0
                    while word != 0 and count < k:
                        lowest = word & (~word + one)
                        rank = (w << 6) + _trailing_zeros(lowest)
                        word ^= lowest
                        similarity = similarities[start + rank]
                        total += similarity * ratings[place_at[rank]]
                        weight += abs(similarity) if divide == 2 else similarity
                        count += 1
            values[n, line] = _score(total, weight, count, fewest, divide, added)
        for m in range(start, end):
            rank_of[codes[m]] = -1
    return values


@njit(cache=True, inline="always")
def _trailing_zeros(power):  # type: ignore[no-untyped-def]
    """The exponent of a power of 2."""
    exponent = 0
    if power & np.uint64(0xFFFFFFFF00000000):
        exponent += 32
    if power & np.uint64(0xFFFF0000FFFF0000):
        exponent += 16
    if power & np.uint64(0xFF00FF00FF00FF00):
        exponent += 8
    if power & np.uint64(0xF0F0F0F0F0F0F0F0):
        exponent += 4
    if power & np.uint64(0xCCCCCCCCCCCCCCCC):
        exponent += 2
    if power & np.uint64(0xAAAAAAAAAAAAAAAA):
        exponent += 1
    return exponent


@njit(cache=True)
def _gathered(starts, codes, similarities, targets, indptr, holders, ratings, lists, k, fewest, divide, added):  # type: ignore[no-untyped-def]
    """The same sums in the same order, for target n with list n."""
    values = np.empty(len(targets))
    place_of = np.full(len(starts) - 1, -1)
    most = k if k > 0 else len(starts)
    for n in range(len(targets)):
        rated = range(indptr[lists[n]], indptr[lists[n] + 1])
        for p in rated:
            place_of[holders[p]] = p
        total, weight, count = 0.0, 0.0, 0
        for m in range(starts[targets[n]], starts[targets[n] + 1]):
            p = place_of[codes[m]]
            if p >= 0:
                count += 1
                total += similarities[m] * ratings[p]
                weight += abs(similarities[m]) if divide == 2 else similarities[m]
                if count == most:
                    break
        for p in rated:
            place_of[holders[p]] = -1
        values[n] = _score(total, weight, count, fewest, divide, added)
    return values


@njit(cache=True)
def _score(total, weight, count, fewest, divide, added):  # type: ignore[no-untyped-def]
    if count < fewest or count == 0:
        return np.nan
    if divide == 0:
        return total
    divisor = (float(count) if divide == 3 else weight) + added
    return total / divisor if divisor != 0.0 else np.nan
