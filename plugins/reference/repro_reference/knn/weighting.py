"""Weightings of the ratings, from which similarities are computed.

With v the rating r(u, i), or 1 for ``values = "binary"``, N the number of documents with entries, n that of the
documents with the term, and L the length of a document over the mean length of those with entries::

    ratings         r                              ones          1
    user-centred    r - mean of the user           item-centred  r - mean of the item
    double-centred  user-centred, then less the mean of the item
    residuals       r - baseline of the algorithm bias
    log             log(1 + v)                     tf-idf        tf(v) idf
    column-shares   v / sum of v of the column     column-unit   v / root of the sum of v^2 of the column
    bm25            v (k1 + 1) / (k1 (1 - b + b L) + v) idf
    bm25-root       r sqrt((k1 + 1) / (k1 (1 - b + b L) + 1) idf)

Documents are the rows that are compared (items in item-knn) and terms their columns, or the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray
from repro_reference.bias import Baseline, damped_means, users_of_entries

INPUTS = (
    "ratings",
    "ones",
    "user-centred",
    "item-centred",
    "double-centred",
    "residuals",
    "log",
    "tf-idf",
    "bm25",
    "bm25-root",
    "column-shares",
    "column-unit",
)
VALUES = ("ratings", "binary")
DOCUMENTS = ("compared", "columns")
LENGTHS = ("sum", "count")

# By name: the weight of a value, and the rarity of a term from N and n.
_TF: dict[str, Callable[[FloatArray], FloatArray]] = {
    "root": np.sqrt,
    "raw": lambda values: values,
    "log": lambda values: 1.0 + np.log(values),
}
_IDF: dict[str, Callable[[float, FloatArray], FloatArray]] = {
    "one-more": lambda total, counts: np.log(total) - np.log1p(counts),
    "plain": lambda total, counts: np.log(total / counts),
    "one-and-quotient": lambda total, counts: np.log1p(total / counts),
    "root": lambda total, counts: np.sqrt(np.log(total / counts)),
    "smooth": lambda total, counts: np.log((1.0 + total) / (1.0 + counts)) + 1.0,
    "odds": lambda total, counts: np.log1p((total - counts + 0.5) / (counts + 0.5)),
    "none": lambda total, counts: np.ones_like(counts),
}
TF, IDF = tuple(_TF), tuple(_IDF)


class Weighting(Protocol):
    """The parameters that the input depends on."""

    @property
    def input(self) -> str: ...
    @property
    def values(self) -> str: ...
    @property
    def tf(self) -> str: ...
    @property
    def idf(self) -> str: ...
    @property
    def documents(self) -> str: ...
    @property
    def length(self) -> str: ...
    @property
    def k1(self) -> float: ...
    @property
    def b(self) -> float: ...
    @property
    def positive(self) -> bool: ...


def weighted(matrix: csr_array, setting: Weighting, baseline: Baseline | None, by_items: bool) -> csr_array:
    """Users by items, weighted; ``by_items``: items are the rows that are compared.

    With ``positive``, only entries above 0 remain: the others are as if they were not there.
    """
    values = _weights(matrix, setting, baseline, by_items)
    result = csr_array((values, matrix.indices, matrix.indptr), matrix.shape)
    if setting.positive:
        result = csr_array((np.maximum(values, 0.0), matrix.indices.copy(), matrix.indptr.copy()), matrix.shape)
        result.eliminate_zeros()
    return result


def _weights(matrix: csr_array, setting: Weighting, baseline: Baseline | None, by_items: bool) -> FloatArray:
    ratings, users, items = matrix.data, users_of_entries(matrix), matrix.indices
    values = np.ones_like(ratings) if setting.values == "binary" else ratings
    columns, n_columns = (users, matrix.shape[0]) if by_items else (items, matrix.shape[1])
    match setting.input:
        case "ratings":
            return ratings
        case "ones":
            return np.ones_like(ratings)
        case "user-centred":
            return _centred(users, ratings, matrix.shape[0])
        case "item-centred":
            return _centred(items, ratings, matrix.shape[1])
        case "double-centred":
            return _centred(items, _centred(users, ratings, matrix.shape[0]), matrix.shape[1])
        case "residuals":
            assert baseline is not None
            return ratings - baseline.pairs(users, items)
        case "log":
            return np.log1p(values)
        case "tf-idf":
            return _TF[setting.tf](values) * _rarity(matrix, setting, by_items)
        case "column-shares":
            return values / np.bincount(columns, weights=values, minlength=n_columns)[columns]
        case "column-unit":
            return values / np.sqrt(np.bincount(columns, weights=values**2, minlength=n_columns))[columns]
    lengths = _relative_lengths(matrix, values, setting, by_items)
    rarity = _rarity(matrix, setting, by_items)
    if setting.input == "bm25-root":
        weights: FloatArray = np.maximum((setting.k1 + 1.0) / (setting.k1 * lengths + 1.0) * rarity, 0.0)
        return ratings * np.sqrt(weights)
    return values * (setting.k1 + 1.0) / (setting.k1 * lengths + values) * rarity


def _centred(codes: CodeArray, values: FloatArray, size: int) -> FloatArray:
    return values - damped_means(codes, values, size, 0.0)[codes]


def _documents(matrix: csr_array, setting: Weighting, by_items: bool) -> tuple[CodeArray, int, CodeArray]:
    """The document of each entry, the number of all documents, and the term of each entry."""
    users, items = users_of_entries(matrix), matrix.indices
    if by_items == (setting.documents == "compared"):
        return items, matrix.shape[1], users
    return users, matrix.shape[0], items


def _rarity(matrix: csr_array, setting: Weighting, by_items: bool) -> FloatArray:
    """The idf of the term of each entry."""
    documents, _, terms = _documents(matrix, setting, by_items)
    counts = np.bincount(terms)[terms].astype(np.float64)
    return _IDF[setting.idf](float(np.count_nonzero(np.bincount(documents))), counts)


def _relative_lengths(matrix: csr_array, values: FloatArray, setting: Weighting, by_items: bool) -> FloatArray:
    """1 - b + b L of the document of each entry."""
    documents, total, _ = _documents(matrix, setting, by_items)
    weights = values if setting.length == "sum" else np.ones_like(values)
    sums = np.bincount(documents, weights=weights, minlength=total)
    present = np.bincount(documents, minlength=total) > 0
    lengths: FloatArray = (1.0 - setting.b) + setting.b * sums / sums[present].mean()
    return lengths[documents]
