"""Scores from the nearest neighbours of each target.

Sums start with the nearest neighbour, and of equally near ones with that of the lower code (the lower id), or of the
higher one. So a score depends only on its own user and item.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from repro.compiling import compiled
from repro.data.interactions import CodeArray, FloatArray
from repro_reference.parallel import in_threads
from repro_reference.products import arrays_of
from repro_reference.selection import nearest_first

Arrays: TypeAlias = tuple[Any, Any, Any]

DIVIDE = ("no", "sum", "absolute", "count")
_NO_LIMIT = 1 << 62
# The exponent of a power of 2 is at the place that its product with this number has in its six highest bits.
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_EXPONENTS = np.empty(64, dtype=np.int64)
_EXPONENTS[[((0x03F79D71B4CB0A89 << bit) & ((1 << 64) - 1)) >> 58 for bit in range(64)]] = np.arange(64)


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
        return int(self.k) or _NO_LIMIT, int(self.fewest), DIVIDE.index(self.divide), float(self.added)


class Lists:
    """Lists of ratings, each with at most one of each neighbour; by list, and by neighbour.

    dense  whether a neighbour has more ratings than there are words of 64 lists, so that words are shorter to read
    """

    def __init__(self, matrix: csr_array) -> None:
        self.matrix, self.width = matrix, matrix.shape[0]
        self.dense = matrix.nnz * 64 > matrix.shape[0] * matrix.shape[1] or self.width <= 64

    @cached_property
    def by_list(self) -> Arrays:
        return arrays_of(self.matrix)

    @cached_property
    def by_neighbour(self) -> Arrays:
        return arrays_of(csr_array(self.matrix.T))


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
        codes, similarities = np.empty_like(self.codes), np.empty_like(self.similarities)
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.codes, minlength=len(self.starts) - 1))])
        _turn(self._arrays(), (starts, codes, similarities), absolute, higher_code)
        return Neighbours(starts, codes, similarities)

    def shares(self, of: str) -> Neighbours:
        """The similarities of each target, or of each neighbour, divided by the sum of their absolute values."""
        size = len(self.starts) - 1
        of_entries = np.repeat(np.arange(size), np.diff(self.starts)) if of == "target" else self.codes
        sums = np.bincount(of_entries, weights=np.abs(self.similarities), minlength=size)
        return Neighbours(self.starts, self.codes, self.similarities / sums[of_entries])

    def block(self, targets: CodeArray, lists: Lists, sums: Sums) -> FloatArray:
        """Targets by lists: the ratings in a list, weighted by similarity; NaN without enough of them."""
        wanted = np.asarray(targets, dtype=np.int64)
        values = np.empty((len(wanted), lists.width))
        # Which of the two is faster has no effect on the sums: both add up a cell in the same order.
        kernel, ratings = (_masked, lists.by_list) if lists.dense else (_scattered, lists.by_neighbour)
        in_threads(
            lambda part: kernel(self._arrays(), wanted[part], ratings, sums.numbers(), values[part]), len(wanted)
        )
        return values

    def pairs(self, targets: CodeArray, lists: csr_array, which: CodeArray, sums: Sums) -> FloatArray:
        """As :meth:`block`, for target n and list ``which[n]`` only."""
        wanted, lines = (np.asarray(codes, dtype=np.int64) for codes in (targets, which))
        values: FloatArray = _gathered(self._arrays(), wanted, arrays_of(lists), lines, sums.numbers())
        return values

    def _arrays(self) -> Arrays:
        return self.starts, self.codes, self.similarities


@compiled()
def _turn(targets, neighbours, absolute, higher_code):  # type: ignore[no-untyped-def]
    """Write the neighbours of each target, nearest first, from the targets of each neighbour."""
    their_starts, their_codes, their_similarities = targets
    starts, codes, similarities = neighbours
    ends = starts[:-1].copy()
    for neighbour in range(len(their_starts) - 1):
        for p in range(their_starts[neighbour], their_starts[neighbour + 1]):
            target = their_codes[p]
            codes[ends[target]] = neighbour
            similarities[ends[target]] = their_similarities[p]
            ends[target] += 1
    for target in range(len(starts) - 1):
        row = slice(starts[target], starts[target + 1])
        order = nearest_first(similarities[row], 0, absolute, higher_code)
        codes[row] = codes[row][order]
        similarities[row] = similarities[row][order]


@compiled()
def _scattered(neighbours, targets, lists, rule, values):  # type: ignore[no-untyped-def]
    """Each neighbour, nearest first, adds its ratings to the lists that have one of it."""
    starts, codes, similarities = neighbours
    indptr, places, ratings = lists
    k, fewest, divide, added = rule
    width = values.shape[1]
    weights = np.empty(width)
    counts = np.empty(width, dtype=np.int64)
    for n in range(len(targets)):
        sums = values[n]
        sums[:] = 0.0
        weights[:] = 0.0
        counts[:] = 0
        for m in range(starts[targets[n]], starts[targets[n] + 1]):
            similarity = similarities[m]
            weight = abs(similarity) if divide == 2 else similarity
            for p in range(indptr[codes[m]], indptr[codes[m] + 1]):
                place = places[p]
                if counts[place] < k:
                    counts[place] += 1
                    weights[place] += weight
                    sums[place] += similarity * ratings[p]
        for place in range(width):
            sums[place] = _score(sums[place], weights[place], counts[place], fewest, divide, added)


@compiled()
def _masked(neighbours, targets, lists, rule, values):  # type: ignore[no-untyped-def]
    """The same sums in the same order, for 64 lists at a time.

    The bits of a word say which of the 64 lists have a rating of a neighbour. Lists that have enough neighbours are
    masked out, so that only ratings that take part cost more than a look at the word.
    """
    starts, codes, similarities = neighbours
    indptr, holders, ratings = lists
    k, fewest, divide, added = rule
    size = len(starts) - 1
    width = values.shape[1]
    one = np.uint64(1)
    words = np.empty(size, dtype=np.uint64)
    row_of = np.empty(size, dtype=np.int32)  # of neighbours with a rating in the 64 lists
    totals, weights, counts = np.empty(64), np.empty(64), np.empty(64, dtype=np.int64)
    for first in range(0, width, 64):
        last = min(first + 64, width)
        words[:] = 0
        rating_of = np.empty((min(indptr[last] - indptr[first], size), 64))  # only where the bit is set
        rows = 0
        for line in range(first, last):
            for p in range(indptr[line], indptr[line + 1]):
                holder = holders[p]
                if words[holder] == 0:
                    row_of[holder] = rows
                    rows += 1
                words[holder] |= one << np.uint64(line - first)
                rating_of[row_of[holder], line - first] = ratings[p]
        for n in range(len(targets)):
            totals[:] = 0.0
            weights[:] = 0.0
            counts[:] = 0
            open_lists = ~np.uint64(0) >> np.uint64(64 - (last - first))
            for m in range(starts[targets[n]], starts[targets[n] + 1]):
                word = words[codes[m]] & open_lists
                if word == 0:
                    continue
                similarity = similarities[m]
                weight = abs(similarity) if divide == 2 else similarity
                own_ratings = rating_of[row_of[codes[m]]]
                while word != 0:
                    lowest = word & (~word + one)
                    word ^= lowest
                    place = _EXPONENTS[(lowest * _DE_BRUIJN) >> np.uint64(58)]
                    totals[place] += similarity * own_ratings[place]
                    weights[place] += weight
                    counts[place] += 1
                    if counts[place] == k:
                        open_lists ^= lowest
                if open_lists == 0:
                    break
            for line in range(first, last):
                place = line - first
                values[n, line] = _score(totals[place], weights[place], counts[place], fewest, divide, added)


@compiled()
def _gathered(neighbours, targets, lists, which, rule):  # type: ignore[no-untyped-def]
    """The same sums in the same order, for target n with list ``which[n]``."""
    starts, codes, similarities = neighbours
    indptr, holders, ratings = lists
    k, fewest, divide, added = rule
    values = np.empty(len(targets))
    place_of = np.full(len(starts) - 1, -1)
    for n in range(len(targets)):
        rated = range(indptr[which[n]], indptr[which[n] + 1])
        for p in rated:
            place_of[holders[p]] = p
        total, weight, count = 0.0, 0.0, 0
        for m in range(starts[targets[n]], starts[targets[n] + 1]):
            p = place_of[codes[m]]
            if p >= 0:
                count += 1
                total += similarities[m] * ratings[p]
                weight += abs(similarities[m]) if divide == 2 else similarities[m]
                if count == k:
                    break
        for p in rated:
            place_of[holders[p]] = -1
        values[n] = _score(total, weight, count, fewest, divide, added)
    return values


@compiled(stored=False)
def _score(total, weight, count, fewest, divide, added):  # type: ignore[no-untyped-def]
    if count < fewest or count == 0:
        return np.nan
    if divide == 0:
        return total
    divisor = (float(count) if divide == 3 else weight) + added
    return total / divisor if divisor != 0.0 else np.nan
