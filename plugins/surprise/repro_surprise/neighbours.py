"""The sums over nearest neighbours that the estimates of Surprise's KNN algorithms are made of.

In Surprise's words, x is what similarities are between (users where ``user_based``, else items) and y the other side.
The neighbours of a pair (x, y) are the ``k`` most similar of those x' that have a rating with y; of these, the ones
with a positive similarity count. Equally similar ones are taken in the order of the training rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from repro.data.interactions import FloatArray
from repro_surprise.fitted import InnerArray, Mask

# How many similarities are looked at together, so that they stay near the processor; and of how many x.
_TOGETHER = 1 << 17
_MOST_X = 256


@dataclass(frozen=True, eq=False)
class Sums:
    """Of the neighbours of pairs: the sum of similarity times rating, that of similarities, and whether enough are.

    The sum of similarities is not a number where one of them is not.
    """

    weighted: FloatArray
    similarities: FloatArray
    enough: Mask

    @classmethod
    def none(cls, shape: tuple[int, ...]) -> Sums:
        return cls(np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=np.bool_))

    @property
    def transposed(self) -> Sums:
        return Sums(self.weighted.T, self.similarities.T, self.enough.T)

    @property
    def means(self) -> FloatArray:
        """The weighted mean of the ratings of neighbours; 0 where there are not enough."""
        found: FloatArray = np.divide(
            self.weighted, self.similarities, out=np.zeros_like(self.weighted), where=self.enough
        )
        return found


@dataclass(frozen=True, eq=False)
class RatingLists:
    """For each y the x that have a rating with it, one list after the other, in the order of the training rows.

    ``values`` are the ratings, less whatever the algorithm subtracts from them. The y that is unknown, -1, has a list
    as well, at the end: an empty one.
    """

    starts: InnerArray
    lengths: InnerArray
    x: InnerArray
    values: FloatArray

    @classmethod
    def of(cls, x: InnerArray, y: InnerArray, values: FloatArray, n_y: int) -> RatingLists:
        order = np.argsort(y, kind="stable")
        lengths = np.bincount(y, minlength=n_y + 1)
        return cls(np.cumsum(lengths) - lengths, lengths, x[order], values[order])

    def of_similar_length(self, y: InnerArray, most: int) -> Iterator[tuple[InnerArray, int]]:
        """Positions in ``y`` whose lists are filled up to the same length, and that length; lists of ``most`` entries
        together, or one.

        The length depends on the list alone, so that a sum never depends on what else is asked for.
        """
        filled = _filled_length(self.lengths[y])
        for length in np.unique(filled):
            same, at_once = np.flatnonzero(filled == length), max(1, most // int(length))
            for start in range(0, len(same), at_once):
                yield same[start : start + at_once], int(length)

    def filled(self, y: InnerArray, length: int, nobody: int) -> tuple[InnerArray, FloatArray]:
        """The lists of these y as rows of the same length: x and values, ``nobody`` and 0 behind their end."""
        place = np.arange(length)
        there = place < self.lengths[y][:, None]
        at = np.where(there, self.starts[y][:, None] + place, 0)
        return np.where(there, self.x[at], nobody), np.where(there, self.values[at], 0.0)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Similarities between all x, the lists of ratings, and how many neighbours there may and must be."""

    similarities: FloatArray
    lists: RatingLists
    k: int
    least: int

    def of_block(self, x: InnerArray, y: InnerArray) -> Sums:
        """The sums of all pairs of these x and y; -1 is unknown and has no neighbours."""
        sums = Sums.none((len(x), len(y)))
        for first in range(0, len(x), _MOST_X):
            rows = slice(first, first + _MOST_X)
            distances = self._distances(x[rows])
            for columns, length in self.lists.of_similar_length(y, _TOGETHER // len(distances)):
                neighbours, values = self.lists.filled(y[columns], length, nobody=len(self.similarities))
                self._add(sums, (rows, columns), np.take(distances, neighbours, axis=1, mode="clip"), values)
        return sums

    def of_pairs(self, x: InnerArray, y: InnerArray) -> Sums:
        """The sums of the pairs x[n], y[n]."""
        sums = Sums.none((len(x),))
        for pairs, length in self.lists.of_similar_length(y, _TOGETHER):
            neighbours, values = self.lists.filled(y[pairs], length, nobody=-1)
            known = (neighbours >= 0) & (x[pairs] >= 0)[:, None]
            distances = np.minimum(-self.similarities[x[pairs][:, None], neighbours], 0.0)
            self._add(sums, (pairs,), np.where(known, distances, 0.0), values)
        return sums

    def _distances(self, x: InnerArray) -> FloatArray:
        """The similarities of these x with their sign turned, 0 where they are negative; and, in one more column,
        0 to nobody."""
        found = np.zeros((len(x), len(self.similarities) + 1))
        known = x >= 0
        found[known, :-1] = np.minimum(-self.similarities[x[known]], 0.0)
        return found

    def _add(self, sums: Sums, where: Any, distances: FloatArray, values: FloatArray) -> None:
        """Sum up lists of distances (along the last axis) with their values, the k lowest of each."""
        kept = nearest(distances, self.k)
        total = -kept.sum(axis=-1)
        sums.weighted[where] = -np.einsum("...l,...l->...", kept, values)
        sums.similarities[where] = total
        sums.enough[where] = total > 0 if self.least <= 1 else np.count_nonzero(kept, axis=-1) >= self.least


def nearest(distances: FloatArray, k: int) -> FloatArray:
    """Each list (along the last axis, nothing above 0) with all but its k lowest set to 0, in its place.

    Of equal ones those that come first are kept, as ``heapq.nlargest`` does. What is not a number stays so.
    """
    if distances.shape[-1] <= k:
        return distances
    # The lowest and not the highest: the many zeros at the other end would slow down the search.
    lowest = np.partition(distances, k - 1, axis=-1)[..., :k]
    edge = lowest[..., -1]
    distances *= distances <= edge[..., None]
    # Where more than k are as low as the k-th, their sum is lower than that of k; one more adds ``edge``.
    crowded = np.nonzero(distances.sum(axis=-1) - lowest.sum(axis=-1) < edge / 2)
    if len(crowded[0]):
        distances[crowded] = _without_last_equals(distances[crowded], edge[crowded], k)
    return distances


def _without_last_equals(lists: FloatArray, edge: FloatArray, k: int) -> FloatArray:
    """Lists of which more than k are not 0, with the last of those that equal ``edge`` set to 0."""
    equal = lists == edge[:, None]
    nth = np.cumsum(equal, axis=-1, dtype=np.int32)
    surplus = np.count_nonzero(lists, axis=-1) - k
    lists[equal & (nth > (nth[:, -1] - surplus)[:, None])] = 0.0
    return lists


def _filled_length(lengths: InnerArray) -> InnerArray:
    """The next length of a fixed ladder: steps of 8 up to 128, then at most an eighth longer."""
    exponent = np.ceil(np.log2(np.maximum(lengths, 1))).astype(np.int64)
    step = np.maximum(8, 1 << np.maximum(exponent - 4, 0))
    return -(-np.maximum(lengths, 1) // step) * step
