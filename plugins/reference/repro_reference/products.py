"""Compiled kernels: rows of a sparse matrix times a dense one, each cell summed separately in a fixed order.

A matrix product of BLAS may round differently for other shapes; here a cell does not depend on the other users and
items of the block, nor on the number of threads.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from repro.compiling import compiled
from repro.data.interactions import CodeArray, FloatArray
from repro_reference.parallel import in_threads

TILE = 1024  # columns whose sums for a block of users fit into the cache of a core


def sums(left: csr_array, users: CodeArray, right: FloatArray, items: CodeArray) -> FloatArray:
    """Users by items: the sum over f of left[user, f] right[f, item], in ascending order of f."""
    if not is_range(items, right.shape[1]):
        chosen: FloatArray = _chosen_sums(*arrays_of(left), _int64(users), right, _int64(items))
        return chosen
    products = np.zeros((len(users), right.shape[1]))
    if len(users):
        by_feature = csr_array(csr_array(left[users]).T)
        features = arrays_of(by_feature)
        in_threads(lambda part: _sums(*features, right, products, (part.start, part.stop, TILE)), right.shape[1])
    return products


def maxima(left: csr_array, users: CodeArray, right: FloatArray, items: CodeArray) -> FloatArray:
    """Users by items: the highest right[f, item] over the f that left[user] has; 0 where none is positive."""
    indptr, features, _ = arrays_of(left)
    highest: FloatArray = _maxima(indptr, features, _int64(users), right, _int64(items))
    return highest


def is_range(items: CodeArray, width: int) -> bool:
    """Whether the items are all of 0 to ``width - 1``, in this order."""
    return len(items) == width and bool((np.asarray(items) == np.arange(width)).all())


def arrays_of(matrix: csr_array) -> tuple[CodeArray, CodeArray, FloatArray]:
    """The arrays of a sparse matrix, of the same types for all matrices."""
    return (
        np.asarray(matrix.indptr, dtype=np.int64),
        np.asarray(matrix.indices, dtype=np.int32),
        np.asarray(matrix.data, dtype=np.float64),
    )


def _int64(codes: CodeArray) -> CodeArray:
    return np.asarray(codes, dtype=np.int64)  # one compiled kernel for all widths


@compiled()
def _sums(starts, users, weights, right, products, columns):  # type: ignore[no-untyped-def]
    """Each row of ``right``, read once for all users, is added to the sums of those who have its feature."""
    start, end, tile = columns
    for first in range(start, end, tile):
        last = min(first + tile, end)
        for feature in range(len(starts) - 1):
            row = right[feature, first:last]
            for p in range(starts[feature], starts[feature + 1]):
                weight = weights[p]
                total = products[users[p], first:last]
                for m in range(last - first):
                    total[m] += weight * row[m]


@compiled()
def _chosen_sums(indptr, features, weights, users, right, items):  # type: ignore[no-untyped-def]
    products = np.zeros((len(users), len(items)))
    for n in range(len(users)):
        for p in range(indptr[users[n]], indptr[users[n] + 1]):
            weight = weights[p]
            row = right[features[p]]
            for m in range(len(items)):
                products[n, m] += weight * row[items[m]]
    return products


@compiled()
def _maxima(indptr, features, users, right, items):  # type: ignore[no-untyped-def]
    highest = np.zeros((len(users), len(items)))
    for n in range(len(users)):
        for p in range(indptr[users[n]], indptr[users[n] + 1]):
            row = right[features[p]]
            for m in range(len(items)):
                value = row[items[m]]
                highest[n, m] = value if value > highest[n, m] else highest[n, m]
    return highest
