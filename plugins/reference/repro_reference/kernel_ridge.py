"""EASE from the users: the same scores, where there are fewer users than items.

With X users by items, K = X X' + s I and P = (X'X + s I)^-1, the identity of Woodbury gives for a training user::

    x(u) P = (K^-1 X)(u, .)        P(i, i) = (1 - x(., i)' K^-1 x(., i)) / s

and so, from B(j, i) = -P(j, i) / P(i, i) off the diagonal::

    score(u, i) = sum over j of x(u, j) B(j, i) = x(u, i) - (K^-1 X)(u, i) / P(i, i)

K^-1 is symmetric, and only half of it is stored, as LAPACK's rectangular full packed format does.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from repro.compiling import compiled
from repro.data.interactions import CodeArray, FloatArray
from repro.errors import PluginError
from repro_reference.parallel import in_threads
from repro_reference.products import arrays_of

AT_ONCE = 16  # users whose sums are added up together


class KernelRidge:
    """EASE of a matrix of users by items, with a fixed penalty."""

    def __init__(self, matrix: csr_array, regularisation: float) -> None:
        self.matrix = matrix
        columns = csr_array(matrix.T)
        self._rows, by_item = arrays_of(matrix), arrays_of(columns)
        size = matrix.shape[0] + matrix.shape[0] % 2  # an even number, with a user without items where it was odd
        packed = np.zeros((size + 1) * (size // 2))

        def fill(part: slice) -> None:
            _fill(self._rows, by_item, regularisation, packed, size, (part.start, part.stop))

        in_threads(fill, size)
        with threadpool_limits(1):  # more threads would add in another order
            factor, failed = lapack.dpftrf(size, packed, transr="N", uplo="L", overwrite_a=1)
            if not failed:
                self._inverse, failed = lapack.dpftri(size, factor, transr="N", uplo="L", overwrite_a=1)
        if failed:
            raise PluginError("X X' is not positive definite in double precision; give a larger regularisation")
        self._size = size
        self._diagonal = np.empty(matrix.shape[1])

        def diagonal(part: slice) -> None:
            _diagonal(by_item, self._inverse, size, regularisation, self._diagonal, (part.start, part.stop))

        in_threads(diagonal, len(self._diagonal))

    def scores(self, users: CodeArray, items: CodeArray) -> FloatArray:
        """Users by items."""
        wanted = np.asarray(users, dtype=np.int64)
        values = np.zeros((len(wanted), self.matrix.shape[1]))
        groups = [wanted[start : start + AT_ONCE] for start in range(0, len(wanted), AT_ONCE)]

        def compute(part: slice) -> None:
            for n in range(part.start, part.stop):
                chosen = slice(n * AT_ONCE, n * AT_ONCE + len(groups[n]))
                _scores(self._rows, self._inverse, self._size, groups[n], self._diagonal, values[chosen])

        in_threads(compute, len(groups), fewest=1)
        return values[:, items]


@compiled(stored=False)
def _place(size, i, j):  # type: ignore[no-untyped-def]
    """The place of (i, j), i >= j, in the lower triangle of an even size: columns from the middle on are transposed
    and stored above the others."""
    half = size // 2
    if j < half:
        return j * (size + 1) + i + 1
    return (i - half) * (size + 1) + j - half


@compiled()
def _fill(rows, columns, added, packed, size, bounds):  # type: ignore[no-untyped-def]
    """The lower triangle of X X' with a number added to its diagonal; a cell is summed in the order of items."""
    indptr, items, values = rows
    starts, users, others = columns
    first, last = bounds
    row = np.zeros(size)
    for i in range(first, last):
        row[i] = added
        if i < len(indptr) - 1:
            for p in range(indptr[i], indptr[i + 1]):
                for q in range(starts[items[p]], starts[items[p] + 1]):
                    if users[q] > i:
                        break
                    row[users[q]] += values[p] * others[q]
        for j in range(i + 1):
            packed[_place(size, i, j)] = row[j]
            row[j] = 0.0


@compiled()
def _diagonal(columns, inverse, size, regularisation, diagonal, bounds):  # type: ignore[no-untyped-def]
    """P(i, i)."""
    starts, users, values = columns
    for item in range(bounds[0], bounds[1]):
        total = 0.0
        for p in range(starts[item], starts[item + 1]):
            for q in range(starts[item], p):
                total += 2.0 * values[p] * values[q] * inverse[_place(size, users[p], users[q])]
            total += values[p] * values[p] * inverse[_place(size, users[p], users[p])]
        diagonal[item] = (1.0 - total) / regularisation


@compiled()
def _scores(rows, inverse, size, users, diagonal, scores):  # type: ignore[no-untyped-def]
    """x(u, i) - (K^-1 X)(u, i) / P(i, i), summed over the users of X in ascending order."""
    indptr, items, values = rows
    n_users, n_items = len(users), len(diagonal)
    sums = np.zeros((n_items, n_users))
    weights = np.empty(n_users)
    for other in range(len(indptr) - 1):
        if indptr[other] == indptr[other + 1]:
            continue
        for n in range(n_users):
            high, low = max(users[n], other), min(users[n], other)
            weights[n] = inverse[_place(size, high, low)]
        for p in range(indptr[other], indptr[other + 1]):
            value = values[p]
            total = sums[items[p]]
            for n in range(n_users):
                total[n] += weights[n] * value
    for n in range(n_users):
        for item in range(n_items):
            scores[n, item] = -sums[item, n] / diagonal[item]
        for p in range(indptr[users[n]], indptr[users[n] + 1]):
            scores[n, items[p]] += values[p]
