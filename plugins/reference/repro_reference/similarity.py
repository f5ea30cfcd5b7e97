"""Similarities of the rows of a sparse matrix, and the nearest rows of each.

A row a is compared with all rows b that have a column in common with it. Sums run over the columns in ascending order.
With x and y the values of a and b, n the number of common columns, sum_c over these and sum over all columns of a row::

    cosine             sum_c xy / sqrt(sum x^2 sum y^2), or both norms over common columns (``over = "common"``)
    pearson            correlation over the common columns, with the means of these
    dot                sum_c xy
    msd                1 / (1 + sum_c (x - y)^2 / n), the mean squared difference
    jaccard            n / (|a| + |b| - n)
    dice               2 n / (|a| + |b|)
    tversky            n / (n + alpha (|a| - n) + beta (|b| - n))
    asymmetric-cosine  sum_c xy / ((sum x^2)^alpha (sum y^2)^(1 - alpha))
    conditional        n / (|b| |a|^alpha), the estimate of P(a | b), against popular a

|a| is the number of columns of a. Fewer than ``min_overlap`` common columns make no similarity. ``shrink`` says how a
``shrinkage`` s above 0 lowers those of few common columns::

    product       similarity n / (n + s)                denominator   s is added to the denominator of the formula
    less-one      similarity (n - 1) / (n - 1 + s)      significance  similarity min(n, s) / s
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import FloatArray
from repro_reference.checks import at_least, one_of
from repro_reference.neighbours import Neighbours

KINDS = ("cosine", "pearson", "dot", "msd", "jaccard", "dice", "tversky", "asymmetric-cosine", "conditional")
OVER = ("all", "common")
SHRINK = ("product", "denominator", "less-one", "significance")
COSINE, PEARSON, DOT, MSD, JACCARD, DICE, TVERSKY, ASYMMETRIC, CONDITIONAL = range(len(KINDS))
PRODUCT, DENOMINATOR, LESS_ONE, SIGNIFICANCE = range(len(SHRINK))


@dataclass(frozen=True)
class Similarity:
    """A definition of similarity; see the formulas of this module.

    Only positive similarities count, unless ``negatives``; a row is not like itself, unless ``itself``.
    """

    kind: str = "cosine"
    over: str = "all"
    alpha: float = 0.5
    beta: float = 0.5
    shrink: str = "product"
    shrinkage: float = 0.0
    min_overlap: int = 1
    negatives: bool = False
    itself: bool = False

    def __post_init__(self) -> None:
        one_of("similarity", self.kind, KINDS)
        one_of("over", self.over, OVER)
        one_of("shrink", self.shrink, SHRINK)
        at_least("alpha", self.alpha, 0)
        at_least("beta", self.beta, 0)
        at_least("shrinkage", self.shrinkage, 0)
        at_least("min_overlap", self.min_overlap, 1)

    def nearest(self, rows: csr_array, most: int = 0) -> Neighbours:
        """The ``most`` most similar rows of each row (0: all), the most similar first, equal ones in their order."""
        rows = csr_array(rows)
        rows.sort_indices()
        columns = csr_array(rows.T)
        columns.sort_indices()
        kind, over, shrink = KINDS.index(self.kind), OVER.index(self.over), SHRINK.index(self.shrink)
        numbers = float(self.alpha), float(self.beta), float(self.shrinkage), int(self.min_overlap)
        starts, codes, similarities = _nearest(
            _sparse(rows), _sparse(columns), (kind, over, shrink), numbers, int(most), self.negatives, self.itself
        )
        return Neighbours(starts, codes, similarities)

    def matrix(self, rows: csr_array) -> FloatArray:
        """All similarities, dense; 0 where there is none."""
        nearest = self.nearest(rows)
        size = len(nearest.starts) - 1
        similar = np.zeros((size, size))
        similar[np.repeat(np.arange(size), np.diff(nearest.starts)), nearest.codes] = nearest.similarities
        return similar


def _sparse(matrix: csr_array):  # type: ignore[no-untyped-def]
    """The arrays of a sparse matrix, of the same types for all matrices."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float64)


@njit(cache=True)
def _nearest(rows, columns, definition, numbers, most, negatives, itself):  # type: ignore[no-untyped-def]
    indptr, places, values = rows
    column_starts, others, their_values = columns
    size = len(indptr) - 1
    squares = np.zeros(size)
    for a in range(size):
        for p in range(indptr[a], indptr[a + 1]):
            squares[a] += values[p] * values[p]
    # Of the common columns of a and each b: their number, and the sums of xy, x, y, xx and yy.
    counts = np.zeros(size, dtype=np.int64)
    sums = np.zeros((size, 5))
    detailed = definition[0] == PEARSON or definition[0] == MSD or definition[1] == 1
    touched = np.empty(size, dtype=np.int32)
    row = np.empty(size)
    starts = np.zeros(size + 1, dtype=np.int64)
    codes = np.empty(1024, dtype=np.int32)
    similarities = np.empty(1024)
    filled = 0
    for a in range(size):
        n_touched = 0
        for p in range(indptr[a], indptr[a + 1]):
            x = values[p]
            for q in range(column_starts[places[p]], column_starts[places[p] + 1]):
                b = others[q]
                if counts[b] == 0:
                    touched[n_touched] = b
                    n_touched += 1
                counts[b] += 1
                sums[b, 0] += x * their_values[q]
                if detailed:
                    y = their_values[q]
                    sums[b, 1] += x
                    sums[b, 2] += y
                    sums[b, 3] += x * x
                    sums[b, 4] += y * y
        near = np.sort(touched[:n_touched])
        kept = 0
        for b in near:
            n = counts[b]
            if (b != a or itself) and n >= numbers[3]:
                sizes = indptr[a + 1] - indptr[a], indptr[b + 1] - indptr[b]
                value = _similarity(definition, numbers, n, sums[b], sizes, squares[a], squares[b])
                if value > 0.0 or (negatives and value < 0.0):
                    near[kept] = b
                    row[kept] = value
                    kept += 1
        for place in range(n_touched):
            counts[touched[place]] = 0
            sums[touched[place]] = 0.0
        order = np.argsort(-row[:kept], kind="mergesort")
        if 0 < most < kept:
            order = order[:most]
        while filled + len(order) > len(codes):
            codes = np.concatenate((codes, np.empty_like(codes)))
            similarities = np.concatenate((similarities, np.empty_like(similarities)))
        for place in order:
            codes[filled] = near[place]
            similarities[filled] = row[place]
            filled += 1
        starts[a + 1] = filled
    return starts, codes[:filled].copy(), similarities[:filled].copy()


@njit(cache=True)
def _similarity(definition, numbers, n, sums, sizes, square_a, square_b):  # type: ignore[no-untyped-def]
    kind, over, shrink = definition
    alpha, beta, shrinkage, _ = numbers
    added = shrinkage if shrink == DENOMINATOR else 0.0
    size_a, size_b = sizes
    xy = sums[0]
    if kind == PEARSON:
        # n sum xy - sum x sum y over the root of the same with x, x and y, y: for whole and half stars these sums are
        # exact, so that a constant row is recognised; the tolerance is for other scales.
        if n < 2:
            return 0.0
        spread_x = n * sums[3] - sums[1] * sums[1]
        spread_y = n * sums[4] - sums[2] * sums[2]
        if spread_x <= 1e-12 * n * sums[3] or spread_y <= 1e-12 * n * sums[4]:
            return 0.0
        value = (n * xy - sums[1] * sums[2]) / (np.sqrt(spread_x * spread_y) + added)
        value = min(1.0, max(-1.0, value))
    elif kind == MSD:
        difference = max(sums[3] - 2.0 * xy + sums[4], 0.0) / n
        value = 1.0 / (1.0 + difference + added)
    elif kind == DOT:
        value = xy / (1.0 + added)
    else:
        if kind == COSINE:
            norm = np.sqrt(sums[3] * sums[4]) if over == 1 else np.sqrt(square_a * square_b)
            top = xy
        elif kind == ASYMMETRIC:
            norm = square_a**alpha * square_b ** (1.0 - alpha)
            top = xy
        else:
            top = float(n)
            if kind == JACCARD:
                norm = float(size_a + size_b - n)
            elif kind == DICE:
                norm = 0.5 * (size_a + size_b)
            elif kind == TVERSKY:
                norm = n + alpha * (size_a - n) + beta * (size_b - n)
            else:
                norm = size_b * float(size_a) ** alpha
        if norm + added <= 0.0:
            return 0.0
        value = top / (norm + added)
    if shrink == PRODUCT:
        return value * (n / (n + shrinkage))
    if shrink == LESS_ONE and shrinkage > 0.0:
        return value * ((n - 1.0) / (n - 1.0 + shrinkage))
    if shrink == SIGNIFICANCE and shrinkage > 0.0:
        return value * (min(float(n), shrinkage) / shrinkage)
    return value
