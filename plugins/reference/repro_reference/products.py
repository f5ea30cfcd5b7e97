"""Compiled kernels: rows of a sparse matrix times a dense one, each cell summed on its own in a fixed order.

A matrix product of BLAS may round differently for other shapes of its operands; here a cell is the same however
many users and items are asked for together.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray


def sums(left: csr_array, users: CodeArray, right: FloatArray, items: CodeArray) -> FloatArray:
    """Users by items: the sum over f of left[user, f] right[f, item]."""
    found: FloatArray = _sums(left.indptr, left.indices, left.data, _int64(users), right, _int64(items))
    return found


def maxima(left: csr_array, users: CodeArray, right: FloatArray, items: CodeArray) -> FloatArray:
    """Users by items: the highest right[f, item] over the f that left[user] holds; 0 where none is positive."""
    found: FloatArray = _maxima(left.indptr, left.indices, _int64(users), right, _int64(items))
    return found


def _int64(codes: CodeArray) -> CodeArray:
    return np.asarray(codes, dtype=np.int64)  # one compiled kernel for all widths


@njit(cache=True)
def _sums(indptr, features, weights, users, right, items):  # type: ignore[no-untyped-def]
    found = np.zeros((len(users), len(items)))
    for n in range(len(users)):
        for p in range(indptr[users[n]], indptr[users[n] + 1]):
            weight = weights[p]
            row = right[features[p]]
            for m in range(len(items)):
                found[n, m] += weight * row[items[m]]
    return found


@njit(cache=True)
def _maxima(indptr, features, users, right, items):  # type: ignore[no-untyped-def]
    found = np.zeros((len(users), len(items)))
    for n in range(len(users)):
        for p in range(indptr[users[n]], indptr[users[n] + 1]):
            row = right[features[p]]
            for m in range(len(items)):
                value = row[items[m]]
                found[n, m] = value if value > found[n, m] else found[n, m]
    return found
