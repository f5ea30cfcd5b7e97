"""Scores from similarities, by the nearest neighbours.

Only positive similarities make neighbours; of equally similar ones the lower code (the lower id) is nearer; sums start
with the nearest neighbour. So a score depends only on its own user and item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of each target, nearest first: their codes and similarities; similarity 0 after the last."""

    codes: CodeArray
    similarities: FloatArray

    @classmethod
    def nearest(cls, similarities: FloatArray, most: int) -> Neighbours:
        """The ``most`` nearest neighbours of each row of a matrix of similarities, which is sorted in place."""
        codes = np.empty(similarities.shape, dtype=np.int32)
        for target, row in enumerate(similarities):
            order = np.argsort(-row, kind="stable")
            codes[target] = order
            row[:] = np.maximum(row[order], 0.0)
        if most >= len(similarities):
            return cls(codes, similarities)
        return cls(codes[:, :most].copy(), similarities[:, :most].copy())

    def block(self, targets: CodeArray, lists: csr_array, k: int, normalise: bool) -> FloatArray:
        """Targets by lists: the ratings in a list, weighted by similarity; NaN without any."""
        holders = csr_array(lists.T)
        ratings = holders.indptr, holders.indices, holders.data
        values: FloatArray = _aggregate_block(*self._arrays(targets), *ratings, lists.shape[0], k, normalise)
        return values

    def pairs(self, targets: CodeArray, lists: csr_array, which: CodeArray, k: int, normalise: bool) -> FloatArray:
        """As :meth:`block`, for target n and list ``which[n]`` only."""
        ratings = lists.indptr, lists.indices, lists.data
        indices = np.asarray(which, dtype=np.int64)
        values: FloatArray = _aggregate_pairs(*self._arrays(targets), *ratings, indices, k, normalise)
        return values

    def _arrays(self, targets: CodeArray) -> tuple[CodeArray, FloatArray, CodeArray]:
        return self.codes, self.similarities, np.asarray(targets, dtype=np.int64)


@njit(cache=True)
def _aggregate_block(neighbours, similarities, targets, indptr, lists, ratings, size, k, normalise):  # type: ignore[no-untyped-def]
    """Each neighbour, nearest first, adds its ratings to the lists that have fewer than k."""
    values = np.zeros((len(targets), size))
    weights = np.empty(size)
    counts = np.empty(size, dtype=np.int64)
    for n in range(len(targets)):
        target = targets[n]
        weights[:] = 0.0
        counts[:] = 0
        for m in range(neighbours.shape[1]):
            similarity = similarities[target, m]
            if similarity == 0.0:
                break
            neighbour = neighbours[target, m]
            for p in range(indptr[neighbour], indptr[neighbour + 1]):
                place = lists[p]
                if counts[place] < k:
                    counts[place] += 1
                    weights[place] += similarity
                    values[n, place] += similarity * ratings[p]
        for place in range(size):
            if counts[place] == 0:
                values[n, place] = np.nan
            elif normalise:
                values[n, place] /= weights[place]
    return values


@njit(cache=True)
def _aggregate_pairs(neighbours, similarities, targets, indptr, holders, ratings, lists, k, normalise):  # type: ignore[no-untyped-def]
    """The same sums in the same order as the block, for single pairs."""
    values = np.empty(len(targets))
    place_of = np.full(neighbours.shape[0], -1)
    for n in range(len(targets)):
        target = targets[n]
        rated = range(indptr[lists[n]], indptr[lists[n] + 1])
        for p in rated:
            place_of[holders[p]] = p
        total = 0.0
        weight = 0.0
        count = 0
        for m in range(neighbours.shape[1]):
            similarity = similarities[target, m]
            if similarity == 0.0 or count == k:
                break
            p = place_of[neighbours[target, m]]
            if p >= 0:
                count += 1
                weight += similarity
                total += similarity * ratings[p]
        for p in rated:
            place_of[holders[p]] = -1
        if count == 0:
            values[n] = np.nan
        else:
            values[n] = total / weight if normalise else total
    return values
