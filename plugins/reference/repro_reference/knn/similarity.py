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

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from repro.compiling import compiled
from repro.data.interactions import FloatArray
from repro_reference.checks import at_least, one_of, require_option
from repro_reference.knn.neighbours import Neighbours
from repro_reference.parallel import in_threads
from repro_reference.products import arrays_of
from repro_reference.selection import nearest_first

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
_OF_PRODUCTS = (COSINE, DOT, ASYMMETRIC, PROJECTION)  # sum_c xy over norms of whole rows


class Rows:
    """The rows that are compared, by row and by column, with the sums and the sums of squares of each row."""

    def __init__(self, matrix: csr_array) -> None:
        rows = csr_array(matrix)
        rows.sort_indices()
        columns = csr_array(rows.T)
        columns.sort_indices()
        self.by_row, self.by_column = arrays_of(rows), arrays_of(columns)
        self.totals = _totals(*self.by_row)
        self.width = int(np.count_nonzero(np.diff(columns.indptr)))


@dataclass(frozen=True)
class Similarity:
    """A definition of similarity; see the formulas of this module.

    Only positive similarities of at least ``least`` count, unless ``negatives``: then those whose absolute value is at
    least this. ``itself`` says whether a row is like itself: "no", as "computed" by the formula, or "one". The nearest
    have the highest similarity, or the highest ``absolute`` one; of equally near ones, the lower code, or the
    ``higher_code``, comes first. With ``rounded``, similarities that differ by less than the rounding of single
    precision are equally near.
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
    rounded: bool = False

    def __post_init__(self) -> None:
        require_option("similarity", self.kind, KINDS)
        one_of(self, over=OVER, shrink=SHRINK)
        at_least(self, alpha=0, beta=0, shrinkage=0, epsilon=0, amplify=0, least=0, min_overlap=1)

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
        # Sums that no formula needs are not added up.
        detailed = kind in (PEARSON, MSD, CONDITIONAL_VALUES) or over == 1
        counted = detailed or kind not in _OF_PRODUCTS or self.shrinkage > 0 or self.min_overlap > 1
        order = bool(self.absolute), bool(self.higher_code), bool(self.rounded)
        flags = bool(self.negatives), itself, of_columns, counted, detailed, order
        definition = kind, over, shrink

        def compute(part: slice) -> tuple[Any, Any, Any]:
            bounds = part.start, part.stop
            return _nearest(rows.by_row, rows.by_column, rows.totals, definition, numbers, int(most), flags, *bounds)

        counts, codes, similarities = zip(*in_threads(compute, len(rows.totals)), strict=True)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        nearest = Neighbours(starts, np.concatenate(codes), np.concatenate(similarities))
        return nearest.by_target(self.absolute, self.higher_code) if of_columns else nearest

    def matrix(self, rows: csr_array) -> FloatArray:
        """All similarities, dense; 0 where there is none."""
        nearest = self.nearest(rows)
        size = len(nearest.starts) - 1
        similar = np.zeros((size, size))
        similar[np.repeat(np.arange(size), np.diff(nearest.starts)), nearest.codes] = nearest.similarities
        return similar


@compiled()
def _totals(indptr, columns, values):  # type: ignore[no-untyped-def]
    """The sum and the sum of squares of each row, added up in the order of its columns."""
    totals = np.zeros((len(indptr) - 1, 2))
    for a in range(len(totals)):
        for p in range(indptr[a], indptr[a + 1]):
            totals[a, 0] += values[p]
            totals[a, 1] += values[p] * values[p]
    return totals


@compiled()
def _nearest(rows, columns, totals, definition, numbers, most, flags, first, last):  # type: ignore[no-untyped-def]
    """The nearest rows of the rows ``first`` to ``last``: how many each has, their codes and similarities."""
    indptr, places, values = rows
    column_starts, others, their_values = columns
    negatives, itself, of_columns, counted, detailed, (absolute, higher_code, rounded) = flags
    size = len(indptr) - 1
    # Of the common columns of a and each b: their number, the sum of xy, and the sums of x, y, xx and yy.
    counts = np.zeros(size, dtype=np.int64)
    products = np.zeros(size)
    sums = np.zeros((size if detailed else 1, 4))
    near = np.empty(size, dtype=np.int32)
    row = np.empty(size)
    kept_of = np.zeros(last - first, dtype=np.int64)
    room = (last - first) * min(most, size) if most > 0 else 1024
    codes = np.empty(room, dtype=np.int32)
    similarities = np.empty(room)
    filled = 0
    for a in range(first, last):
        for p in range(indptr[a], indptr[a + 1]):
            x = values[p]
            start, end = column_starts[places[p]], column_starts[places[p] + 1]
            for q in range(start, end):
                products[others[q]] += x * their_values[q]
            if counted:
                for q in range(start, end):
                    counts[others[q]] += 1
            if detailed:
                for q in range(start, end):
                    y = their_values[q]
                    common = sums[others[q]]
                    common[0] += x
                    common[1] += y
                    common[2] += x * x
                    common[3] += y * y
        kept = 0
        for b in range(size):
            n = counts[b] if counted else np.int64(products[b] != 0.0)  # without common columns there is no similarity
            value = 0.0
            if b == a and itself == 2:
                value = 1.0 if indptr[a] < indptr[a + 1] else 0.0
            elif n > 0 and (b != a or itself == 1) and n >= numbers[3]:
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
        products[:] = 0.0
        if counted:
            counts[:] = 0
        if detailed:
            sums[:] = 0.0
        keys = _rounded(row[:kept]) if rounded else row[:kept]
        order = nearest_first(keys, most, absolute, higher_code)
        while filled + len(order) > len(codes):
            codes = np.concatenate((codes, np.empty_like(codes)))
            similarities = np.concatenate((similarities, np.empty_like(similarities)))
        for place in order:
            codes[filled] = near[place]
            similarities[filled] = row[place]
            filled += 1
        kept_of[a - first] = len(order)
    return kept_of, codes[:filled].copy(), similarities[:filled].copy()


@compiled(stored=False)
def _rounded(numbers):  # type: ignore[no-untyped-def]
    """Numbers with 18 bits: those that differ by the rounding of single precision are mostly equal."""
    rounded = np.empty_like(numbers)
    for n in range(len(numbers)):
        part, exponent = math.frexp(numbers[n])
        rounded[n] = math.ldexp(np.round(part * 262144.0) / 262144.0, exponent)
    return rounded


@compiled(stored=False)
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
