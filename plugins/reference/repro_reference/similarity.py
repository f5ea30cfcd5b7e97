"""Compiled kernels: the similarity of every two rows of a sparse matrix.

Both take the matrix by rows and by columns (each sorted), and return a dense symmetric matrix with zeros on the
diagonal, so that no row is its own neighbour. Sums run over the columns in ascending order.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import FloatArray


def similarities(rows: csr_array, kind: str, shrinkage: float, min_overlap: int) -> FloatArray:
    """The similarities of ``kind`` (``cosine`` or ``pearson``), shrunk by n / (n + shrinkage).

    n is the number of columns that the two rows have in common; below ``min_overlap`` the similarity is 0.
    """
    columns = csr_array(rows.T)
    kernel = _cosine if kind == "cosine" else _pearson
    similar: FloatArray = kernel(
        rows.indptr,
        rows.indices,
        rows.data,
        columns.indptr,
        columns.indices,
        columns.data,
        float(shrinkage),
        int(min_overlap),
    )
    return similar


@njit(cache=True)
def _cosine(indptr, columns, values, starts, others, their_values, shrinkage, min_overlap):  # type: ignore[no-untyped-def]
    """cos(a, b) = sum of x y over common columns / (|x| |y|), the norms over all of each row (Salton 1971)."""
    size = len(indptr) - 1
    similar = np.zeros((size, size))
    squares = np.zeros(size)
    common = np.zeros(size, dtype=np.int64)
    products = np.zeros(size)
    for a in range(size):
        common[:a] = 0
        products[:a] = 0.0
        for p in range(indptr[a], indptr[a + 1]):
            x = values[p]
            squares[a] += x * x
            for q in range(starts[columns[p]], starts[columns[p] + 1]):
                b = others[q]
                if b >= a:
                    break
                common[b] += 1
                products[b] += x * their_values[q]
        for b in range(a):
            n = common[b]
            norm = np.sqrt(squares[a] * squares[b])
            if n >= min_overlap and n > 0 and norm > 0.0:
                similar[a, b] = products[b] / norm * (n / (n + shrinkage))
                similar[b, a] = similar[a, b]
    return similar


@njit(cache=True)
def _pearson(indptr, columns, values, starts, others, their_values, shrinkage, min_overlap):  # type: ignore[no-untyped-def]
    """Pearson's correlation over the common columns, means included; 0 where one of the two does not vary.

    n sum(xy) - sum(x) sum(y), over the root of the product of the same with x, x and y, y. For whole and half
    stars these sums are exact, so that a constant row is recognised; the tolerance is for other scales.
    """
    size = len(indptr) - 1
    similar = np.zeros((size, size))
    sums = np.zeros((size, 6))
    for a in range(size):
        sums[:a] = 0.0
        for p in range(indptr[a], indptr[a + 1]):
            x = values[p]
            for q in range(starts[columns[p]], starts[columns[p] + 1]):
                b = others[q]
                if b >= a:
                    break
                y = their_values[q]
                sums[b, 0] += 1.0
                sums[b, 1] += x
                sums[b, 2] += y
                sums[b, 3] += x * x
                sums[b, 4] += y * y
                sums[b, 5] += x * y
        for b in range(a):
            n, x, y, xx, yy, xy = sums[b]
            if n < min_overlap or n < 2.0:
                continue
            spread_x = n * xx - x * x
            spread_y = n * yy - y * y
            if spread_x <= 1e-12 * n * xx or spread_y <= 1e-12 * n * yy:
                continue
            correlation = (n * xy - x * y) / np.sqrt(spread_x * spread_y)
            similar[a, b] = min(1.0, max(-1.0, correlation)) * (n / (n + shrinkage))
            similar[b, a] = similar[a, b]
    return similar
