"""Weightings of the ratings, from which similarities are computed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro_reference.bias import damped_baseline, damped_means, users_of_entries

INPUTS = ("ratings", "ones", "user-centred", "item-centred", "residuals", "log", "tf-idf", "bm25")
K1, B = 100.0, 0.8  # of BM25


def weighted(train: Interactions, kind: str, by_items: bool) -> csr_array:
    """Users by items, weighted; ``by_items``: items are the rows that are compared, and so the documents.

    ratings       r(u, i)                       user-centred  r(u, i) - mean of the user
    ones          1                             item-centred  r(u, i) - mean of the item
    log           log(1 + r(u, i))              residuals     r(u, i) - baseline of the algorithm bias
    tf-idf        sqrt(r) (log N - log(1 + n))  bm25          r (K1 + 1) / (K1 (1 - B + B L) + r) (log N - log(1 + n))

    N is the number of rows, n that of rows with the column, L the sum of a row over the mean of these sums.
    """
    matrix = train.matrix()
    values = _WEIGHTS[kind](train, matrix, by_items)
    return csr_array((values, matrix.indices, matrix.indptr), matrix.shape)


def _centred(codes_of: Callable[[csr_array], CodeArray]) -> Callable[[Interactions, csr_array, bool], FloatArray]:
    def values(train: Interactions, matrix: csr_array, by_items: bool) -> FloatArray:
        codes = codes_of(matrix)
        means = damped_means(codes, matrix.data, max(matrix.shape), 0.0)
        return matrix.data - means[codes]

    return values


def _residuals(train: Interactions, matrix: csr_array, by_items: bool) -> FloatArray:
    return matrix.data - damped_baseline(train, 0.0, 0.0).pairs(users_of_entries(matrix), matrix.indices)


def _rarity(matrix: csr_array, by_items: bool) -> FloatArray:
    """log N - log(1 + n) of the column of each entry."""
    users, items = users_of_entries(matrix), matrix.indices
    columns, size = (users, matrix.shape[1]) if by_items else (items, matrix.shape[0])
    counts = np.bincount(columns)[columns].astype(np.float64)
    return np.log(float(size)) - np.log1p(counts)


def _tf_idf(train: Interactions, matrix: csr_array, by_items: bool) -> FloatArray:
    return np.sqrt(matrix.data) * _rarity(matrix, by_items)


def _bm25(train: Interactions, matrix: csr_array, by_items: bool) -> FloatArray:
    rows, size = (matrix.indices, matrix.shape[1]) if by_items else (users_of_entries(matrix), matrix.shape[0])
    sums = np.bincount(rows, weights=matrix.data, minlength=size)
    lengths = (1.0 - B) + B * sums / sums.mean()
    return matrix.data * (K1 + 1.0) / (K1 * lengths[rows] + matrix.data) * _rarity(matrix, by_items)


_WEIGHTS: dict[str, Callable[[Interactions, csr_array, bool], FloatArray]] = {
    "ratings": lambda train, matrix, by_items: matrix.data,
    "ones": lambda train, matrix, by_items: np.ones_like(matrix.data),
    "user-centred": _centred(users_of_entries),
    "item-centred": _centred(lambda matrix: matrix.indices),
    "residuals": _residuals,
    "log": lambda train, matrix, by_items: np.log1p(matrix.data),
    "tf-idf": _tf_idf,
    "bm25": _bm25,
}
