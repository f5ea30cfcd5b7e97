"""Compiled kernels: sparse item-item weights, a row at a time, and a user's rows added up."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray


def weighted_rows(rows: csr_array, users: CodeArray, weights: csr_array, items: CodeArray) -> FloatArray:
    """Users by items: the sum over the user's entries j, in ascending order, of rows[user, j] weights[j, item]."""
    left, right = (rows.indptr, rows.indices, rows.data), (weights.indptr, weights.indices, weights.data)
    wanted = np.asarray(users, dtype=np.int64), np.asarray(items, dtype=np.int64)
    sums: FloatArray = _weighted_rows(*left, *right, *wanted, weights.shape[1])
    return sums


def item_paths(forward: csr_array, backward: csr_array, factors: FloatArray, k: int) -> csr_array:
    """Items by items: (forward backward) times ``factors`` of the column, with the k largest positive entries of each
    row (0: all) and none on the diagonal; of equal entries the lower code stays."""
    left, right = (forward.indptr, forward.indices, forward.data), (backward.indptr, backward.indices, backward.data)
    starts, codes, values = _item_paths(*left, *right, factors, k)
    return csr_array((values, codes, starts), (forward.shape[0], backward.shape[1]))


@njit(cache=True)
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


@njit(cache=True)
def _item_paths(indptr, middles, left, starts, columns, right, factors, k):  # type: ignore[no-untyped-def]
    size, width = len(indptr) - 1, len(factors)
    row = np.zeros(width)
    ends = np.zeros(size + 1, dtype=np.int64)
    codes = np.empty(1024, dtype=np.int64)
    values = np.empty(1024)
    filled = 0
    for item in range(size):
        row[:] = 0.0
        for p in range(indptr[item], indptr[item + 1]):
            for q in range(starts[middles[p]], starts[middles[p] + 1]):
                row[columns[q]] += left[p] * right[q]
        for other in range(width):
            row[other] *= factors[other]
        if item < width:
            row[item] = 0.0
        present = np.nonzero(row > 0.0)[0]
        if 0 < k < len(present):
            order = np.argsort(-row[present], kind="mergesort")[:k]
            present = np.sort(present[order])
        while filled + len(present) > len(codes):
            codes = np.concatenate((codes, np.empty_like(codes)))
            values = np.concatenate((values, np.empty_like(values)))
        for other in present:
            codes[filled] = other
            values[filled] = row[other]
            filled += 1
        ends[item + 1] = filled
    return ends, codes[:filled].copy(), values[:filled].copy()
