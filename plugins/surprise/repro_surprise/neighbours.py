"""Sums over nearest neighbours, from which the estimates of Surprise's KNN algorithms are computed.

In Surprise, similarities are between x (users if ``user_based``, else items), and y is the other side. The neighbours
of a pair (x, y) are the ``k`` most similar of the x' that have a rating with y; only those with a positive similarity
count. Of equally similar ones, those that come first in the training rows are chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from repro.data.interactions import FloatArray
from repro_surprise.fitted import InnerArray, Mask

# How many similarities are processed together, so that they stay in the cache; and of how many x.
_BATCH = 1 << 17
_MOST_X = 256


@dataclass(frozen=True, eq=False)
class Sums:
    """For the neighbours of pairs: the sum of similarity times rating, that of similarities, and if there are enough.

    The sum of similarities is NaN if one of them is NaN.
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
        means: FloatArray = np.divide(
            self.weighted, self.similarities, out=np.zeros_like(self.weighted), where=self.enough
        )
        return means


@dataclass(frozen=True, eq=False)
class RatingLists:
    """For each y the x that have a rating with it, one list after the other, in the order of the training rows.

    ``values`` are the ratings minus what the algorithm subtracts from them. The unknown y, -1, has an empty list, which
    is the last one.
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
        """Positions in ``y`` whose lists are padded to the same length, and that length: as many lists as have ``most``
        entries together, at least one.

        The length depends on the list alone, so that a sum never depends on the other pairs of a block.
        """
        lengths = _padded_length(self.lengths[y])
        for length in np.unique(lengths):
            same, size = np.flatnonzero(lengths == length), max(1, most // int(length))
            for start in range(0, len(same), size):
                yield same[start : start + size], int(length)

    def padded(self, y: InnerArray, length: int, padding: int) -> tuple[InnerArray, FloatArray]:
        """The lists of these y as rows of the same length: x and values, ``padding`` and 0 after their end."""
        offsets = np.arange(length)
        inside = offsets < self.lengths[y][:, None]
        at = np.where(inside, self.starts[y][:, None] + offsets, 0)
        return np.where(inside, self.x[at], padding), np.where(inside, self.values[at], 0.0)


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
            for columns, length in self.lists.of_similar_length(y, _BATCH // len(distances)):
                neighbours, values = self.lists.padded(y[columns], length, padding=len(self.similarities))
                self._add(sums, (rows, columns), np.take(distances, neighbours, axis=1, mode="clip"), values)
        return sums

    def of_pairs(self, x: InnerArray, y: InnerArray) -> Sums:
        """The sums of the pairs x[n], y[n]."""
        sums = Sums.none((len(x),))
        for pairs, length in self.lists.of_similar_length(y, _BATCH):
            neighbours, values = self.lists.padded(y[pairs], length, padding=-1)
            known = (neighbours >= 0) & (x[pairs] >= 0)[:, None]
            distances = np.minimum(-self.similarities[x[pairs][:, None], neighbours], 0.0)
            self._add(sums, (pairs,), np.where(known, distances, 0.0), values)
        return sums

    def _distances(self, x: InnerArray) -> FloatArray:
        """The negated similarities of these x, 0 for negative ones; and a column of 0 for the padding."""
        distances = np.zeros((len(x), len(self.similarities) + 1))
        known = x >= 0
        distances[known, :-1] = np.minimum(-self.similarities[x[known]], 0.0)
        return distances

    def _add(self, sums: Sums, where: Any, distances: FloatArray, values: FloatArray) -> None:
        """Add up the k lowest of each list of distances (along the last axis), with their values."""
        lowest = nearest(distances, self.k)
        total = -lowest.sum(axis=-1)
        sums.weighted[where] = -np.einsum("...l,...l->...", lowest, values)
        sums.similarities[where] = total
        sums.enough[where] = total > 0 if self.least <= 1 else np.count_nonzero(lowest, axis=-1) >= self.least


def nearest(distances: FloatArray, k: int) -> FloatArray:
    """Each list (along the last axis, nothing above 0) with all but its k lowest values set to 0, in place.

    Of equal values the first ones are kept, as ``heapq.nlargest`` does. NaN stays NaN.
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


def _padded_length(lengths: InnerArray) -> InnerArray:
    """The next of some fixed lengths: multiples of 8 up to 128, then at most an eighth longer."""
    exponent = np.ceil(np.log2(np.maximum(lengths, 1))).astype(np.int64)
    step = np.maximum(8, 1 << np.maximum(exponent - 4, 0))
    return -(-np.maximum(lengths, 1) // step) * step
