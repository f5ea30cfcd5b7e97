"""UIR-Item: the probability that a user's items were chosen together with an item, smoothed by the collection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, Interactions
from repro.plugin import Algorithm, Parameter, Queries, Scores
from repro_reference.checks import above, at_most


@dataclass(eq=False, kw_only=True)
class UIRItem:
    """The user-item relevance model with items generated from items (Wang, de Vries & Reinders 2006)::

        score(u, i) = log P(i) + sum over j in I(u) with c(i, j) > 0 of log(1 + (1 - s) P(j | i) / (s P(j)))
        P(j | i) = c(i, j) / c(i)        P(j) = c(j) / sum of c

    c(i) is the number of users of item i, c(i, j) that of users of both, s the ``smoothing``. Ratings are not used.
    An item is not evidence for itself. Unscored: users or items without training rows.
    """

    smoothing: float = 0.5

    def __post_init__(self) -> None:
        above(self, smoothing=0)
        at_most(self, smoothing=1)

    def fit(self, train: Interactions, *, seed: int) -> None:
        matrix = train.matrix()
        self.rows_ = csr_array((np.ones(len(train)), matrix.indices, matrix.indptr), matrix.shape)
        self.counts_ = train.item_counts().astype(np.float64)
        together = csr_array(self.rows_.T @ self.rows_)
        together.setdiag(0.0)
        together.eliminate_zeros()
        together.sort_indices()
        items = np.repeat(np.arange(train.n_items), np.diff(together.indptr))
        likely = together.data / self.counts_[items]
        share = self.counts_[together.indices] / max(self.counts_.sum(), 1.0)
        logs = np.log1p((1.0 - self.smoothing) * likely / (self.smoothing * share))
        # Rows: the evidence j, columns: the item i, so that a user's evidence is a sum of rows.
        self.evidence_ = csr_array(csr_array((logs, together.indices, together.indptr), together.shape).T)
        self.evidence_.sort_indices()
        self.known_users_ = train.user_counts() > 0

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        known = self.counts_[items] > 0
        prior = np.log(np.where(known, self.counts_[items], 1.0) / max(self.counts_.sum(), 1.0))
        rows, evidence = self.rows_, self.evidence_
        gathered = _evidence(
            np.asarray(users, dtype=np.int64),
            rows.indptr,
            rows.indices,
            evidence.indptr,
            evidence.indices,
            evidence.data,
        )
        return Scores.where(self.known_users_[users][:, None] & known, prior + gathered[:, items])


@njit(cache=True)
def _evidence(users, indptr, codes, starts, columns, values):  # type: ignore[no-untyped-def]
    sums = np.zeros((len(users), len(starts) - 1))
    for n in range(len(users)):
        for p in range(indptr[users[n]], indptr[users[n] + 1]):
            for q in range(starts[codes[p]], starts[codes[p] + 1]):
                sums[n, columns[q]] += values[q]
    return sums


declaration = Algorithm(
    "uir-item",
    "how likely the user's items are among those of the item's users, smoothed",
    UIRItem,
    parameters=(Parameter("smoothing", 0.5, "weight of an item's share in all rows, above 0 and up to 1"),),
    cite="Wang, de Vries & Reinders (2006), ECIR, doi:10.1007/11735106_5",
)
