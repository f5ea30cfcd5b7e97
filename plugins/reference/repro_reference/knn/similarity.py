"""Similarities of the rows of a sparse matrix, and the nearest rows of each.

A row a is compared with all rows b that have a column in common with it. Sums run over the columns in ascending order.
With x and y the values of a and b, n the number of common columns, sum_c over these, sum over all columns of a row, and
C the number of columns that any row has::

    cosine              sum_c xy / sqrt(sum x^2 sum y^2), or both norms over common columns (``over = "common"``)
    pearson             correlation over the common columns, with the means of these
    pearson-zeros       correlation over the C columns, with missing values as zero
    dot                 sum_c xy
    projection          sum_c xy / sqrt(sum y^2), the length of a's projection on b
    msd                 1 / (1 + sum_c (x - y)^2 / n), the mean squared difference
    jaccard             n / (|a| + |b| - n)
    dice                2 n / (|a| + |b|)
    tversky             n / (n + alpha (|a| - n) + beta (|b| - n))
    asymmetric-cosine   sum_c xy / ((sum x^2)^alpha (sum y^2)^(1 - alpha))
    conditional         n / (|b| |a|^alpha), the estimate of P(a | b), against popular a
    conditional-values  sum_c x / (|b| |a|^alpha)

|a| is the number of columns of a. Fewer than ``min_overlap`` common columns make no similarity. ``epsilon`` is added to
the denominator, so that it is not 0. ``shrink`` says how a ``shrinkage`` s above 0 lowers those of few common columns::

    product       similarity n / (n + s)                denominator   s is added to the denominator of the formula
    less-one      similarity (n - 1) / (n - 1 + s)      significance  similarity min(n, s) / s

Then its absolute value is raised to the power ``amplify``, and keeps its sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import FloatArray
from repro_reference.checks import at_least, one_of
from repro_reference.knn.neighbours import Neighbours

KINDS = (
    "cosine",
    "pearson",
    "dot",
    "msd",
    "jaccard",
    "dice",
    "tversky",
    "asymmetric-cosine",
    "conditional",
    "conditional-values",
    "pearson-zeros",
    "projection",
)
OVER = ("all", "common")
SHRINK = ("product", "denominator", "less-one", "significance")
COSINE, PEARSON, DOT, MSD, JACCARD, DICE, TVERSKY, ASYMMETRIC = range(8)
CONDITIONAL, CONDITIONAL_VALUES, ZEROS, PROJECTION = range(8, len(KINDS))
PRODUCT, DENOMINATOR, LESS_ONE, SIGNIFICANCE = range(len(SHRINK))


class Rows:
    """The rows that are compared, by row and by column, with the sums and the sums of squares of each row."""

    def __init__(self, matrix: csr_array) -> None:
        rows = csr_array(matrix)
        rows.sort_indices()
        columns = csr_array(rows.T)
        columns.sort_indices()
        self.by_row, self.by_column = _sparse(rows), _sparse(columns)
        self.totals = _totals(*self.by_row)
        self.width = int(np.count_nonzero(np.diff(columns.indptr)))


@dataclass(frozen=True)
class Similarity:
    """A definition of similarity; see the formulas of this module.

    Only positive similarities of at least ``least`` count, unless ``negatives``: then those whose absolute value is at
    least this. ``itself`` says whether a row is like itself: "no", as "computed" by the formula, or "one". The nearest
    have the highest similarity, or the highest ``absolute`` one; of equally near ones, the lower code, or the
    ``higher_code``, comes first.
    """

    kind: str = "cosine"
    over: str = "all"
    alpha: float = 0.5
    beta: float = 0.5
    shrink: str = "product"
    shrinkage: float = 0.0
    min_overlap: int = 1
    negatives: bool = False
    itself: str = "no"
    epsilon: float = 0.0
    amplify: float = 1.0
    least: float = 0.0
    absolute: bool = False
    higher_code: bool = False

    def __post_init__(self) -> None:
        one_of("similarity", self.kind, KINDS)
        one_of("over", self.over, OVER)
        one_of("shrink", self.shrink, SHRINK)
        for name in ("alpha", "beta", "shrinkage", "epsilon", "amplify", "least"):
            at_least(name, getattr(self, name), 0)
        at_least("min_overlap", self.min_overlap, 1)

    def nearest(self, rows: csr_array | Rows, most: int = 0, *, of_columns: bool = False) -> Neighbours:
        """The ``most`` most similar rows b of each row a (0: all), nearest first.

        ``of_columns``: each row b instead takes part for the ``most`` rows a that are most similar to it.
        """
        rows = rows if isinstance(rows, Rows) else Rows(rows)
        kind, over, shrink = KINDS.index(self.kind), OVER.index(self.over), SHRINK.index(self.shrink)
        itself = ("no", "computed", "one").index(self.itself)
        numbers = (
            float(self.alpha),
            float(self.beta),
            float(self.shrinkage),
            int(self.min_overlap),
            float(self.epsilon),
            float(self.amplify),
            float(self.least),
            float(rows.width),
        )
        flags = bool(self.negatives), itself, bool(self.absolute), bool(self.higher_code), of_columns
        starts, codes, similarities = _nearest(
            rows.by_row, rows.by_column, rows.totals, (kind, over, shrink), numbers, int(most), flags
        )
        found = Neighbours(starts, codes, similarities)
        return found.by_target(self.absolute, self.higher_code) if of_columns else found

    def matrix(self, rows: csr_array) -> FloatArray:
        """All similarities, dense; 0 where there is none."""
        nearest = self.nearest(rows)
        size = len(nearest.starts) - 1
        similar = np.zeros((size, size))
        similar[np.repeat(np.arange(size), np.diff(nearest.starts)), nearest.codes] = nearest.similarities
        return similar


def _sparse(matrix: csr_array) -> tuple[Any, Any, Any]:
    """The arrays of a sparse matrix, of the same types for all matrices."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float64)


@njit(cache=True)
def _totals(indptr, columns, values):  # type: ignore[no-untyped-def]
    """The sum and the sum of squares of each row, added up in the order of its columns."""
    totals = np.zeros((len(indptr) - 1, 2))
    for a in range(len(totals)):
        for p in range(indptr[a], indptr[a + 1]):
            totals[a, 0] += values[p]
            totals[a, 1] += values[p] * values[p]
    return totals


@njit(cache=True)
def _nearest(rows, columns, totals, definition, numbers, most, flags):  # type: ignore[no-untyped-def]
    indptr, places, values = rows
    column_starts, others, their_values = columns
    negatives, itself, absolute, higher_code, of_columns = flags
    size = len(indptr) - 1
    # Of the common columns of a and each b: their number, the sum of xy, and the sums of x, y, xx and yy.
    counts = np.zeros(size, dtype=np.int64)
    products = np.zeros(size)
    kind = definition[0]
    detailed = kind in (PEARSON, MSD, CONDITIONAL_VALUES) or definition[1] == 1
    sums = np.zeros((size if detailed else 1, 4))
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
                products[b] += x * their_values[q]
                if detailed:
                    y = their_values[q]
                    sums[b, 0] += x
                    sums[b, 1] += y
                    sums[b, 2] += x * x
                    sums[b, 3] += y * y
        near = np.sort(touched[:n_touched])
        kept = 0
        for b in near:
            n = counts[b]
            value = 0.0
            if b == a and itself == 2:
                value = 1.0
            elif (b != a or itself == 1) and n >= numbers[3]:
                common = sums[b] if detailed else sums[0]
                sizes = indptr[a + 1] - indptr[a], indptr[b + 1] - indptr[b]
                if of_columns:  # a is the neighbour, and b its target
                    turned = common[1], common[0], common[3], common[2]
                    value = _similarity(
                        definition, numbers, n, products[b], turned, (sizes[1], sizes[0]), totals[b], totals[a]
                    )
                else:
                    straight = common[0], common[1], common[2], common[3]
                    value = _similarity(definition, numbers, n, products[b], straight, sizes, totals[a], totals[b])
            if (value > 0.0 or (negatives and value < 0.0)) and abs(value) >= numbers[6]:
                near[kept] = b
                row[kept] = value
                kept += 1
        for place in range(n_touched):
            counts[touched[place]] = 0
            products[touched[place]] = 0.0
            if detailed:
                sums[touched[place]] = 0.0
        order = _order(row[:kept], most, absolute, higher_code)
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
def _order(row, most, absolute, higher_code):  # type: ignore[no-untyped-def]
    """The places of the ``most`` nearest (0: all), nearest first; of equal ones the first, or the last."""
    keys = -np.abs(row) if absolute else -row
    size = len(keys)
    if higher_code:
        keys = keys[::-1].copy()
    if 0 < most < size:
        last = np.partition(keys, most - 1)[most - 1]
        chosen = np.empty(most, dtype=np.int64)
        below = 0
        for place in range(size):
            below += keys[place] < last
        equal = most - below
        filled = 0
        for place in range(size):
            if keys[place] < last or (keys[place] == last and equal > 0):
                equal -= keys[place] == last
                chosen[filled] = place
                filled += 1
        order = chosen[np.argsort(keys[chosen], kind="mergesort")]
    else:
        order = np.argsort(keys, kind="mergesort")
    return size - 1 - order if higher_code else order


@njit(cache=True)
def _similarity(definition, numbers, n, xy, sums, sizes, total_a, total_b):  # type: ignore[no-untyped-def]
    kind, over, shrink = definition
    alpha, beta, shrinkage, epsilon, amplify, width = (
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[4],
        numbers[5],
        numbers[7],
    )
    added = (shrinkage if shrink == DENOMINATOR else 0.0) + epsilon
    size_a, size_b = sizes
    sum_x, sum_y, sum_xx, sum_yy = sums
    if kind == PEARSON:
        # n sum xy - sum x sum y over the root of the same with x, x and y, y: for whole and half stars these sums are
        # exact, so that a constant row is recognised; the tolerance is for other scales.
        if n < 2:
            return 0.0
        spread_x = n * sum_xx - sum_x * sum_x
        spread_y = n * sum_yy - sum_y * sum_y
        if spread_x <= 1e-12 * n * sum_xx or spread_y <= 1e-12 * n * sum_yy:
            return 0.0
        value = (n * xy - sum_x * sum_y) / (np.sqrt(spread_x * spread_y) + added)
        value = min(1.0, max(-1.0, value))
    elif kind == ZEROS:
        spread_x = width * total_a[1] - total_a[0] * total_a[0]
        spread_y = width * total_b[1] - total_b[0] * total_b[0]
        if spread_x <= 1e-12 * width * total_a[1] or spread_y <= 1e-12 * width * total_b[1]:
            return 0.0
        value = (width * xy - total_a[0] * total_b[0]) / (np.sqrt(spread_x * spread_y) + added)
        value = min(1.0, max(-1.0, value))
    elif kind == MSD:
        difference = max(sum_xx - 2.0 * xy + sum_yy, 0.0) / n
        value = 1.0 / (1.0 + difference + added)
    elif kind == DOT:
        value = xy / (1.0 + added)
    else:
        if kind == COSINE:
            norm = np.sqrt(sum_xx * sum_yy) if over == 1 else np.sqrt(total_a[1] * total_b[1])
            top = xy
        elif kind == PROJECTION:
            norm = np.sqrt(total_b[1])
            top = xy
        elif kind == ASYMMETRIC:
            norm = total_a[1] ** alpha * total_b[1] ** (1.0 - alpha)
            top = xy
        else:
            top = sum_x if kind == CONDITIONAL_VALUES else float(n)
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
        value *= n / (n + shrinkage)
    elif shrink == LESS_ONE and shrinkage > 0.0:
        value *= (n - 1.0) / (n - 1.0 + shrinkage)
    elif shrink == SIGNIFICANCE and shrinkage > 0.0:
        value *= min(float(n), shrinkage) / shrinkage
    if amplify != 1.0 and value != 0.0:
        value = np.sign(value) * abs(value) ** amplify
    return value
