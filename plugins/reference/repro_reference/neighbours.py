"""Scores from the nearest neighbours of each target.

Of equally similar neighbours the lower code (the lower id) is nearer; sums start with the nearest neighbour. So a score
depends only on its own user and item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray


@dataclass(frozen=True)
class Sums:
    """The rule that turns the ratings of neighbours into a score.

    k         how many of the nearest neighbours with a rating take part; 0: all of them
    fewest    fewest neighbours for a score
    divide    by nothing ("no"), the sum of similarities ("sum"), or that of their absolute values ("absolute")
    """

    k: int = 0
    fewest: int = 1
    divide: str = "no"

    def numbers(self) -> tuple[int, int, int]:
        return int(self.k), int(self.fewest), ("no", "sum", "absolute").index(self.divide)


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

    def nearest_by_neighbour(self, most: int) -> Neighbours:
        """Each neighbour takes part for the ``most`` targets that are most similar to it only."""
        targets = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        order = np.lexsort((targets, -self.similarities, self.codes))
        first = np.searchsorted(self.codes[order], self.codes[order], side="left")
        kept = np.sort(order[np.arange(len(order)) - first < most])
        counts = np.bincount(targets[kept], minlength=len(self.starts) - 1)
        return Neighbours(np.concatenate([[0], np.cumsum(counts)]), self.codes[kept], self.similarities[kept])

    def shares(self) -> Neighbours:
        """The similarities of each target divided by the sum of their absolute values."""
        targets = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        sums = np.bincount(targets, weights=np.abs(self.similarities), minlength=len(self.starts) - 1)
        return Neighbours(self.starts, self.codes, self.similarities / sums[targets])

    def block(self, targets: CodeArray, lists: csr_array, sums: Sums) -> FloatArray:
        """Targets by lists: the ratings in a list, weighted by similarity; NaN without enough of them."""
        holders = csr_array(lists.T)
        ratings = holders.indptr, holders.indices, holders.data
        wanted = np.asarray(targets, dtype=np.int64)
        values: FloatArray = _scattered(*self._arrays(), wanted, *ratings, lists.shape[0], *sums.numbers())
        return values

    def pairs(self, targets: CodeArray, lists: csr_array, which: CodeArray, sums: Sums) -> FloatArray:
        """As :meth:`block`, for target n and list ``which[n]`` only."""
        ratings = lists.indptr, lists.indices, lists.data
        wanted, lines = (np.asarray(codes, dtype=np.int64) for codes in (targets, which))
        values: FloatArray = _gathered(*self._arrays(), wanted, *ratings, lines, *sums.numbers())
        return values

    def _arrays(self) -> tuple[CodeArray, CodeArray, FloatArray]:
        return self.starts, self.codes, self.similarities


@njit(cache=True)
def _scattered(starts, codes, similarities, targets, indptr, lists, ratings, width, k, fewest, divide):  # type: ignore[no-untyped-def]
    """Each neighbour, nearest first, adds its ratings to the lists that have fewer than k."""
    values = np.zeros((len(targets), width))
    weights = np.empty(width)
    counts = np.empty(width, dtype=np.int64)
    most = k if k > 0 else len(starts)
    for n in range(len(targets)):
        weights[:] = 0.0
        counts[:] = 0
        for m in range(starts[targets[n]], starts[targets[n] + 1]):
            similarity = similarities[m]
            weight = abs(similarity) if divide == 2 else similarity
            for p in range(indptr[codes[m]], indptr[codes[m] + 1]):
                place = lists[p]
                if counts[place] < most:
                    counts[place] += 1
                    weights[place] += weight
                    values[n, place] += similarity * ratings[p]
        for place in range(width):
            values[n, place] = _score(values[n, place], weights[place], counts[place], fewest, divide)
    return values


@njit(cache=True)
def _gathered(starts, codes, similarities, targets, indptr, holders, ratings, lists, k, fewest, divide):  # type: ignore[no-untyped-def]
    """The same sums in the same order as :func:`_scattered`, for target n with list n."""
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
        values[n] = _score(total, weight, count, fewest, divide)
    return values


@njit(cache=True)
def _score(total, weight, count, fewest, divide):  # type: ignore[no-untyped-def]
    if count < fewest or count == 0 or (divide > 0 and weight == 0.0):
        return np.nan
    return total / weight if divide > 0 else total
