"""Distances between items, by the users who have them or by their features, in compiled loops.

    cosine: 1 - a.b / (|a| |b|);  jaccard: 1 - entries of both / entries of either

An item that no user has, or that has no features, is at distance 1 from all others.

The users who have an item are a set. That of a popular item is also stored as a bitmap, which takes no more memory
than the set, so that two items of n users are compared in n/32 steps at most, however popular they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.shared.declarations import Variants
from repro.evaluation.metrics.shared.kernels import compiled, list_sums
from repro.protocol import Decision, Option

if TYPE_CHECKING:
    from scipy.sparse import csr_array

COSINE, JACCARD = 0, 1
KINDS = {"cosine": COSINE, "jaccard": JACCARD}

_M1, _M2 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_M4, _H01 = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
_ONE, _TWO, _FOUR, _TOP = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


def distance_decisions(metric: str) -> tuple[Decision, Decision]:
    """The decisions about the distance between two items."""
    return (
        Decision.choice(
            f"metric.{metric}.distance",
            "How is the distance between two items measured?",
            Option("cosine", "1 - cosine of their vectors"),
            Option("jaccard", "1 - what both have / what either has"),
        ),
        Decision.choice(
            f"metric.{metric}.over",
            "By what are two items compared?",
            Option("co-ratings", "by the users who have them in training"),
            Option("features", "by their features (data.item_features)"),
        ),
    )


def farthest(variants: Variants) -> float:
    """The largest distance between two items: features can have negative weights, and then a negative cosine."""
    return 2.0 if variants["distance"] == "cosine" and variants["over"] == "features" else 1.0


class Vectors(NamedTuple):
    """Items as sparse vectors.

    offsets  the entries of item ``i`` are ``[offsets[i], offsets[i + 1])``
    columns  the dimension of each entry, ascending within an item
    weights  the value of each entry; empty if all are 1
    squares  the squared length of each item
    bitmap   the row of each item among ``bitmaps``; -1 if it has none
    bitmaps  the columns of popular items as bits
    """

    offsets: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    weights: FloatArray
    squares: FloatArray
    bitmap: npt.NDArray[np.int32]
    bitmaps: npt.NDArray[np.uint64]


class Sets(NamedTuple):
    """Sets of codes: those of set ``i`` are ``members[offsets[i]:offsets[i + 1]]``, ascending."""

    offsets: npt.NDArray[np.int64]
    members: npt.NDArray[np.int32]


def sets(owners: npt.NDArray[np.integer], members: npt.NDArray[np.integer], count: int) -> Sets:
    """The members of each of ``count`` owners, from pairs that are sorted by owner, then member."""
    offsets = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(owners, minlength=count), out=offsets[1:])
    return Sets(offsets, members.astype(np.int32))


def set_vectors(of_items: Sets, dimensions: int) -> Vectors:
    """The set of each item as a vector of 0 and 1."""
    offsets, columns = of_items
    sizes = np.diff(offsets)
    words = (dimensions + 63) // 64
    popular = np.flatnonzero(sizes > words)
    bitmap = np.full(len(sizes), -1, dtype=np.int32)
    bitmap[popular] = np.arange(len(popular))
    bitmaps = _bitmaps(offsets, columns, popular, words)
    return Vectors(offsets, columns, np.empty(0), sizes.astype(np.float64), bitmap, bitmaps)


def weight_vectors(matrix: csr_array) -> Vectors:
    """The rows of ``matrix`` with its values."""
    rows = matrix.copy()
    rows.sum_duplicates()  # which also sorts
    rows.eliminate_zeros()
    offsets, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    weights = rows.data.astype(np.float64)
    items = len(offsets) - 1
    bitmaps = np.empty((0, 0), dtype=np.uint64)
    squares = list_sums(offsets, weights * weights)
    return Vectors(offsets, columns, weights, squares, np.full(items, -1, dtype=np.int32), bitmaps)


@compiled
def _bitmaps(offsets: Any, columns: Any, items: Any, words: int) -> Any:
    bitmaps = np.zeros((len(items), words), dtype=np.uint64)
    for row in range(len(items)):
        for entry in range(offsets[items[row]], offsets[items[row] + 1]):
            bitmaps[row, columns[entry] >> 6] |= _ONE << np.uint64(columns[entry] & 63)
    return bitmaps


@compiled
def _bits(word: Any) -> Any:
    """The number of bits of a word that are set."""
    word = word - ((word >> _ONE) & _M1)
    word = (word & _M2) + ((word >> _TWO) & _M2)
    word = (word + (word >> _FOUR)) & _M4
    return np.int64((word * _H01) >> _TOP)


@compiled
def _members(bitmap: Any, columns: Any) -> Any:
    """The number of the columns that are in the bitmap."""
    members = 0
    for column in columns:
        members += ((bitmap[column >> 6] >> np.uint64(column & 63)) & _ONE) != 0
    return members


@compiled
def _common(vectors: Any, a: int, b: int) -> Any:
    """In how many columns both items have an entry."""
    first = vectors.columns[vectors.offsets[a] : vectors.offsets[a + 1]]
    second = vectors.columns[vectors.offsets[b] : vectors.offsets[b + 1]]
    if vectors.bitmap[a] >= 0 and vectors.bitmap[b] >= 0:
        bits, other_bits = vectors.bitmaps[vectors.bitmap[a]], vectors.bitmaps[vectors.bitmap[b]]
        common = 0
        for word in range(len(bits)):
            common += _bits(bits[word] & other_bits[word])
        return common
    if vectors.bitmap[a] >= 0:
        return _members(vectors.bitmaps[vectors.bitmap[a]], second)
    if vectors.bitmap[b] >= 0:
        return _members(vectors.bitmaps[vectors.bitmap[b]], first)
    common, i, j = 0, 0, 0
    while i < len(first) and j < len(second):
        common += first[i] == second[j]
        step = first[i] <= second[j]
        j += second[j] <= first[i]
        i += step
    return common


@compiled
def _dot(vectors: Any, a: int, b: int) -> Any:
    """The scalar product of two items with weights."""
    total = 0.0
    i, j = vectors.offsets[a], vectors.offsets[b]
    while i < vectors.offsets[a + 1] and j < vectors.offsets[b + 1]:
        if vectors.columns[i] == vectors.columns[j]:
            total += vectors.weights[i] * vectors.weights[j]
            i += 1
            j += 1
        elif vectors.columns[i] < vectors.columns[j]:
            i += 1
        else:
            j += 1
    return total


@compiled
def distance(vectors: Any, a: int, b: int, kind: int) -> Any:
    """The distance between two items."""
    size_a = vectors.offsets[a + 1] - vectors.offsets[a]
    size_b = vectors.offsets[b + 1] - vectors.offsets[b]
    if size_a == 0 or size_b == 0:
        return 1.0
    if kind == JACCARD:
        common = _common(vectors, a, b)
        return 1.0 - common / (size_a + size_b - common)
    product = _dot(vectors, a, b) if len(vectors.weights) else float(_common(vectors, a, b))
    return max(0.0, 1.0 - product / math.sqrt(vectors.squares[a] * vectors.squares[b]))


@compiled
def pair_distances(items: Any, vectors: Any, kind: int) -> Any:
    """For each list the sum, the least and the greatest distance of its pairs of items, and how many pairs."""
    lists = len(items)
    sums, least, greatest, pairs = np.zeros(lists), np.zeros(lists), np.zeros(lists), np.zeros(lists)
    for n in range(lists):
        total, low, high, count = 0.0, math.inf, -math.inf, 0
        for second in range(items.shape[1]):
            if items[n, second] < 0:
                break
            for first in range(second):
                length = distance(vectors, items[n, first], items[n, second], kind)
                total += length
                low = min(low, length)
                high = max(high, length)
                count += 1
        if count:
            sums[n], least[n], greatest[n], pairs[n] = total, low, high, count
    return sums, least, greatest, pairs


@compiled
def profile_distances(
    users: Any, items: Any, profile_offsets: Any, profile_items: Any, vectors: Any, kind: int, nearest: bool
) -> Any:
    """The distance of each item from the training items of its user: from the nearest one, or the mean."""
    distances = np.ones(len(items))
    for n in range(len(items)):
        start, end = profile_offsets[users[n]], profile_offsets[users[n] + 1]
        if start == end:
            continue
        total, low = 0.0, math.inf
        for entry in range(start, end):
            length = distance(vectors, items[n], profile_items[entry], kind)
            total += length
            low = min(low, length)
        distances[n] = low if nearest else total / (end - start)
    return distances
