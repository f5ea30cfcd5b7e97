"""Compiled kernels: item-item weights, a row at a time, and a user's rows added up."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from repro.compiling import compiled
from repro.data.interactions import CodeArray, FloatArray
from repro_reference.parallel import in_threads
from repro_reference.products import arrays_of, sums
from repro_reference.selection import nearest_first

DENSE = 0.25  # a matrix with this share of entries is added up faster if it is dense


def weighted_rows(rows: csr_array, users: CodeArray, weights: csr_array | FloatArray, items: CodeArray) -> FloatArray:
    """Users by items: the sum over the user's entries j, in ascending order, of rows[user, j] weights[j, item]."""
    if isinstance(weights, np.ndarray):
        return sums(rows, users, weights, items)
    wanted = np.asarray(users, dtype=np.int64), np.asarray(items, dtype=np.int64)
    values: FloatArray = _weighted_rows(*arrays_of(rows), *arrays_of(weights), *wanted, weights.shape[1])
    return values


def compact(weights: csr_array) -> csr_array | FloatArray:
    """The same matrix, dense where many of its entries are not 0; :func:`weighted_rows` gives the same bits."""
    return weights.toarray(order="C") if weights.nnz > DENSE * weights.shape[0] * weights.shape[1] else weights


def gram(matrix: csr_array) -> FloatArray:
    """X'X of a sparse matrix X, dense; a cell is summed over the rows of X in ascending order."""
    columns = csr_array(matrix.T)
    products = np.zeros((matrix.shape[1], matrix.shape[1]))
    by_column, by_row = arrays_of(columns), arrays_of(matrix)

    def compute(part: slice) -> None:
        _gram(by_column, by_row, part.start, part.stop, products)

    in_threads(compute, len(products))
    mirror(products)
    return products


def item_paths(
    forward: csr_array, backward: csr_array, factors: FloatArray, k: int, diagonal: bool = False
) -> csr_array:
    """Items by items: (forward backward) times ``factors`` of the column, with the k largest positive entries of each
    row (0: all), and none on the diagonal but with ``diagonal``; of equal entries the lower code stays."""
    left, right = arrays_of(forward), arrays_of(backward)

    def compute(part: slice) -> tuple[Any, Any, Any]:
        return _item_paths(left, right, factors, (k, diagonal), part.start, part.stop)

    counts, codes, values = zip(*in_threads(compute, forward.shape[0]), strict=True)
    starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    return csr_array((np.concatenate(values), np.concatenate(codes), starts), (forward.shape[0], backward.shape[1]))


def largest_in_columns(weights: csr_array, k: int) -> csr_array:
    """The k largest entries of each column, which are positive; of equal entries that of the lower row stays."""
    columns = csr_array(weights.T)
    starts, codes, values = arrays_of(columns)
    kept = _largest(starts, values, k)
    counts = np.concatenate([[0], np.cumsum(kept)])[starts]
    return csr_array(csr_array((values[kept], codes[kept], counts), columns.shape).T)


@compiled()
def _largest(starts, values, k):  # type: ignore[no-untyped-def]
    """A mask of the values that are among the k largest of their row."""
    chosen = np.zeros(len(values), dtype=np.bool_)
    for row in range(len(starts) - 1):
        for place in nearest_first(values[starts[row] : starts[row + 1]], k, False, False):
            chosen[starts[row] + place] = True
    return chosen


@compiled()
def _weighted_rows(indptr, features, left, starts, columns, right, users, items, width):  # type: ignore[no-untyped-def]
    values = np.empty((len(users), len(items)))
    row = np.empty(width)
    for n in range(len(users)):
        row[:] = 0.0
        for p in range(indptr[users[n]], indptr[users[n] + 1]):
            weight = left[p]
            for q in range(starts[features[p]], starts[features[p] + 1]):
                row[columns[q]] += weight * right[q]
        for place in range(len(items)):
            values[n, place] = row[items[place]]
    return values


@compiled()
def _gram(columns, rows, first, last, products):  # type: ignore[no-untyped-def]
    """The upper triangle of X'X, of the rows ``first`` to ``last``."""
    starts, holders, values = columns
    indptr, codes, others = rows
    for a in range(first, last):
        row = products[a]
        for p in range(starts[a], starts[a + 1]):
            x = values[p]
            for q in range(indptr[holders[p] + 1] - 1, indptr[holders[p]] - 1, -1):
                if codes[q] < a:
                    break
                row[codes[q]] += x * others[q]


@compiled()
def mirror(square):  # type: ignore[no-untyped-def]
    """Copy the upper triangle to the lower one."""
    size, tile = len(square), 64
    for first in range(0, size, tile):
        for start in range(0, first + tile, tile):
            for a in range(first, min(first + tile, size)):
                for b in range(start, min(start + tile, a)):
                    square[a, b] = square[b, a]


@compiled()
def _item_paths(forward, backward, factors, kept_weights, first, last):  # type: ignore[no-untyped-def]
    """The rows ``first`` to ``last``: how many entries each has, their codes and values."""
    k, diagonal = kept_weights
    indptr, middles, left = forward
    starts, columns, right = backward
    width = len(factors)
    row = np.zeros(width)
    near = np.empty(width, dtype=np.int32)
    values = np.empty(width)
    counts = np.zeros(last - first, dtype=np.int64)
    room = (last - first) * min(k, width) if k > 0 else 1024
    all_codes = np.empty(room, dtype=np.int32)
    all_values = np.empty(room)
    filled = 0
    for item in range(first, last):
        for p in range(indptr[item], indptr[item + 1]):
            weight = left[p]
            for q in range(starts[middles[p]], starts[middles[p] + 1]):
                row[columns[q]] += weight * right[q]
        kept = 0
        for other in range(width):
            value = row[other] * factors[other]
            row[other] = 0.0
            if value > 0.0 and (diagonal or other != item):
                near[kept] = other
                values[kept] = value
                kept += 1
        order = np.sort(nearest_first(values[:kept], k, False, False)) if 0 < k < kept else np.arange(kept)
        while filled + len(order) > len(all_codes):
            all_codes = np.concatenate((all_codes, np.empty_like(all_codes)))
            all_values = np.concatenate((all_values, np.empty_like(all_values)))
        for place in order:
            all_codes[filled] = near[place]
            all_values[filled] = values[place]
            filled += 1
        counts[item - first] = len(order)
    return counts, all_codes[:filled].copy(), all_values[:filled].copy()
