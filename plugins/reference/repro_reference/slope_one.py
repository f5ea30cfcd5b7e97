"""Slope one: mean differences between the ratings of items."""

from __future__ import annotations

import numpy as np
from numba import njit

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Parameter, Queries, Scores
from repro_reference.checks import one_of

VARIANTS = ("weighted", "plain", "around-mean")


class SlopeOne:
    """Predictions from the mean difference d(i, j) of the ratings of i and j by the users of both (Lemire &
    Maclachlan 2005), with c(i, j) the number of these users and R the user's items j with c(i, j) > 0::

        weighted     sum of c(i, j) (d(i, j) + r(u, j)) / sum of c(i, j)
        plain        mean of d(i, j) + r(u, j)
        around-mean  mean rating of the user + mean of d(i, j)

    A user's own rating of i takes no part. Unscored: pairs without such items.
    """

    def __init__(self, *, variant: str = "weighted") -> None:
        one_of("variant", variant, VARIANTS)
        self.variant = variant

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.rows_ = train.matrix()
        self.differences_, self.counts_ = _differences(
            self.rows_.indptr, self.rows_.indices, self.rows_.data, train.n_items
        )
        counts = np.maximum(train.user_counts(), 1)
        self.means_ = np.asarray(self.rows_.sum(axis=1)).ravel() / counts

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self._scores(queries.users, np.broadcast_to(items, (len(queries), len(items))))

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        scores = self._scores(queries.users, np.asarray(items)[:, None])
        return Scores.from_nan(scores.values[:, 0])

    def _scores(self, users: CodeArray, items: CodeArray) -> Scores:
        rows = self.rows_.indptr, self.rows_.indices, self.rows_.data
        values: FloatArray = _predictions(
            *rows, self.differences_, self.counts_, self.means_, np.asarray(users, dtype=np.int64),
            np.ascontiguousarray(items, dtype=np.int64), VARIANTS.index(self.variant),
        )  # fmt: skip
        return Scores.where(~np.isnan(values), values)


@njit(cache=True)
def _differences(indptr, items, ratings, size):  # type: ignore[no-untyped-def]
    differences = np.zeros((size, size))
    counts = np.zeros((size, size), dtype=np.int64)
    for user in range(len(indptr) - 1):
        for p in range(indptr[user], indptr[user + 1]):
            for q in range(indptr[user], indptr[user + 1]):
                differences[items[p], items[q]] += ratings[p] - ratings[q]
                counts[items[p], items[q]] += 1
    for i in range(size):
        counts[i, i] = 0
        for j in range(size):
            if counts[i, j] > 0:
                differences[i, j] /= counts[i, j]
    return differences, counts


@njit(cache=True)
def _predictions(indptr, own, ratings, differences, counts, means, users, items, variant):  # type: ignore[no-untyped-def]
    values = np.empty(items.shape)
    for n in range(len(users)):
        user = users[n]
        for place in range(items.shape[1]):
            item = items[n, place]
            total, weight = 0.0, 0.0
            for p in range(indptr[user], indptr[user + 1]):
                count = counts[item, own[p]]
                if count > 0:
                    rating = 0.0 if variant == 2 else ratings[p]
                    share = float(count) if variant == 0 else 1.0
                    total += share * (differences[item, own[p]] + rating)
                    weight += share
            if weight == 0.0:
                values[n, place] = np.nan
            else:
                values[n, place] = total / weight + (means[user] if variant == 2 else 0.0)
    return values


declaration = Algorithm(
    "slope-one",
    "mean differences between the ratings of two items",
    SlopeOne,
    parameters=(Parameter("variant", "weighted", "how differences are averaged", VARIANTS),),
    predicts=True,
    cite="Lemire & Maclachlan (2005), SDM, doi:10.1137/1.9781611972757.43",
)
