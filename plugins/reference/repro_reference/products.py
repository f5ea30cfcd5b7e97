"""Compiled kernels: rows of a sparse matrix times a dense one, each cell summed separately in a fixed order.

A matrix product of BLAS may round differently for other shapes; here a cell does not depend on the other users and
items of the block.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray


def sums(left: csr_array, users: CodeArray, right: FloatArray, items: CodeArray) -> FloatArray:
    """Users by items: the sum over f of left[user, f] right[f, item]."""
    products: FloatArray = _sums(left.indptr, left.indices, left.data, _int64(users), right, _int64(items))
    return products


def maxima(left: csr_array, users: CodeArray, right: FloatArray, items: CodeArray) -> FloatArray:
    """Users by items: the highest right[f, item] over the f that left[user] has; 0 where none is positive."""
    highest: FloatArray = _maxima(left.indptr, left.indices, _int64(users), right, _int64(items))
    return highest


def _int64(codes: CodeArray) -> CodeArray:
    return np.asarray(codes, dtype=np.int64)  # one compiled kernel for all widths


@njit(cache=True)
def _sums(indptr, features, weights, users, right, items):  # type: ignore[no-untyped-def]
    products = np.zeros((len(users), len(items)))
    for n in range(len(users)):
        for p in range(indptr[users[n]], indptr[users[n] + 1]):
            weight = weights[p]
            row = right[features[p]]
            for m in range(len(items)):
                products[n, m] += weight * row[items[m]]
    return products


@njit(cache=True)
def _maxima(indptr, features, users, right, items):  # type: ignore[no-untyped-def]
    highest = np.zeros((len(users), len(items)))
    for n in range(len(users)):
        for p in range(indptr[users[n]], indptr[users[n] + 1]):
            row = right[features[p]]
            for m in range(len(items)):
                value = row[items[m]]
                highest[n, m] = value if value > highest[n, m] else highest[n, m]
    return highest
