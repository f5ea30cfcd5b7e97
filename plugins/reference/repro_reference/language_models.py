"""Neighbours by language models: how likely a neighbour's ratings generate those of the user or item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Parameter, Queries, Scores
from repro_reference.checks import above, at_least
from repro_reference.knn.neighbours import Lists, Neighbours, Sums
from repro_reference.neighbourhoods import item_probabilities, positive_ratings


@dataclass(eq=False, kw_only=True)
class LanguageModelNeighbours:
    """A weighted sum of ratings, with neighbours by query likelihood (Valcarce, Parapar & Barreiro 2016, ECIR)::

        user-based  score(u, i) = sum over v in V(u) of s(u, v) r(v, i)
        item-based  score(u, i) = sum over j in V(i) of s(i, j) r(u, j)
        s(a, b) = exp(mean over the entries x of a, weighted by r(a, x), of log p(x | b) / p(x | C))
        p(x | b) = (r(b, x) + mu p(x | C)) / (sum of r(b, .) + mu)

    A row a (a user, or an item) is the query, the other rows are documents. The k rows with the highest likelihood,
    which is their order by s, are the neighbours V; of equally likely ones the lower id is nearer. s is the geometric
    mean of likelihood ratios, so that long rows have similarities of the same magnitude as short ones. mu is the
    ``smoothing`` (Dirichlet). Unscored: pairs without a rated neighbour.
    """

    by_items = False

    k: int = 100
    smoothing: float = 100.0

    def __post_init__(self) -> None:
        at_least(self, k=1)
        above(self, smoothing=0)

    def fit(self, train: Interactions, *, seed: int) -> None:
        ratings = positive_ratings("a language model", train)
        rows = csr_array(ratings.T) if self.by_items else ratings
        rows.sort_indices()
        similar = _likelihoods(rows, item_probabilities(rows)[1], float(self.smoothing))
        self.neighbours_ = Neighbours.nearest(similar, min(int(self.k), len(similar)))
        self.ratings_ = ratings
        self.by_item_ = csr_array(ratings.T)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        if self.by_items:
            values = self.neighbours_.block(items, Lists(self.ratings_[users]), Sums()).T
        else:
            values = self.neighbours_.block(users, Lists(self.by_item_[items]), Sums())
        return Scores.from_nan(values)


class LanguageModelItems(LanguageModelNeighbours):
    """The item-based :class:`LanguageModelNeighbours`."""

    by_items = True


def _likelihoods(rows: csr_array, collection: FloatArray, mu: float) -> FloatArray:
    """s of all pairs of rows; 0 on the diagonal, and for rows without entries."""
    columns = csr_array(rows.T)
    columns.sort_indices()
    similar: FloatArray = _ratios(
        rows.indptr, rows.indices, rows.data, columns.indptr, columns.indices, columns.data, collection, mu
    )
    return similar


@njit(cache=True)
def _ratios(indptr, columns, values, starts, others, their_values, collection, mu):  # type: ignore[no-untyped-def]
    """log p(x | b) / p(x | C) = log(mu / (|b| + mu)) + log(1 + r(b, x) / (mu p(x | C))), whose second part is 0
    where b has no rating of x."""
    size = len(indptr) - 1
    lengths = np.zeros(size)
    for a in range(size):
        for p in range(indptr[a], indptr[a + 1]):
            lengths[a] += values[p]
    similar = np.zeros((size, size))
    for a in range(size):
        if lengths[a] == 0.0:
            continue
        row = similar[a]
        for p in range(indptr[a], indptr[a + 1]):
            x = columns[p]
            for q in range(starts[x], starts[x + 1]):
                row[others[q]] += values[p] * np.log1p(their_values[q] / (mu * collection[x]))
        for b in range(size):
            known = b != a and lengths[b] > 0.0
            row[b] = np.exp(row[b] / lengths[a]) * (mu / (lengths[b] + mu)) if known else 0.0
    return similar


def _declare(name: str, summary: str, make: type[LanguageModelNeighbours]) -> Algorithm:
    return Algorithm(
        name,
        summary,
        make,
        parameters=(
            Parameter("k", 100, "how many neighbours"),
            Parameter("smoothing", 100.0, "mu of Dirichlet smoothing"),
        ),
        cite="Valcarce, Parapar & Barreiro (2016), ECIR, doi:10.1007/978-3-319-30671-1_45",
    )


declarations = (
    _declare("lm-wsr-user", "ratings by the users whose ratings make the user's most likely", LanguageModelNeighbours),
    _declare("lm-wsr-item", "the user's ratings of items that make the item's ratings most likely", LanguageModelItems),
)
