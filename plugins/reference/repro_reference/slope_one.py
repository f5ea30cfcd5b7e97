"""Slope one: mean differences between the ratings of items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repro.compiling import compiled
from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Choice, Parameter, Queries, Scores
from repro_reference.checks import one_of
from repro_reference.products import arrays_of

_LEMIRE = "Lemire & Maclachlan (2005), SDM, doi:10.1137/1.9781611972757.43"
VARIANTS = (
    Choice(
        "weighted",
        "each difference counts as often as users have both items",
        "sum of c(i, j) (d(i, j) + r(u, j)) / sum of c(i, j)",
        _LEMIRE,
    ),
    Choice("plain", "each difference counts once", "mean of d(i, j) + r(u, j)", _LEMIRE),
    Choice(
        "around-mean",
        "differences are added to the mean rating of the user",
        "mean of r(u, .) + mean of d(i, j)",
        _LEMIRE,
        ("surprise/slope-one",),
    ),
    Choice(
        "bi-polar",
        "weighted; differences are means over users who like both items, or who dislike both",
        "sum over liked and over disliked j of c(i, j) (d(i, j) + r(u, j)) / sum of c(i, j)",
        _LEMIRE,
    ),
)
_NAMES = tuple(str(choice.value) for choice in VARIANTS)


@dataclass(eq=False, kw_only=True)
class SlopeOne:
    """Predictions from the mean difference d(i, j) of the ratings of i and j by the users of both (Lemire &
    Maclachlan 2005), with c(i, j) the number of these users and R the user's items j with c(i, j) > 0::

        weighted     sum of c(i, j) (d(i, j) + r(u, j)) / sum of c(i, j)
        plain        mean of d(i, j) + r(u, j)
        around-mean  mean rating of the user + mean of d(i, j)
        bi-polar     as weighted, but a user likes an item that has more than the mean of the user's ratings, and
                     dislikes one that has less: for a liked j, d(i, j) and c(i, j) are those of users who like both,
                     for a disliked j those of users who dislike both

    A user's own rating of i takes no part. Unscored: pairs without such items.
    """

    variant: str = "weighted"

    def __post_init__(self) -> None:
        one_of(self, variant=_NAMES)

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.rows_ = train.matrix()
        counts = np.maximum(train.user_counts(), 1)
        self.means_ = np.asarray(self.rows_.sum(axis=1)).ravel() / counts
        # By group: all ratings, or the disliked and the liked ones.
        groups = 2 if self.variant == "bi-polar" else 1
        self.groups_ = np.zeros(self.rows_.nnz, dtype=np.int64)
        if groups == 2:
            means = np.repeat(self.means_, np.diff(self.rows_.indptr))
            self.groups_ = np.where(self.rows_.data > means, 1, np.where(self.rows_.data < means, 0, -1))
        self.differences_, self.counts_ = _differences(*arrays_of(self.rows_), self.groups_, (groups, train.n_items))

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self._scores(queries.users, np.broadcast_to(items, (len(queries), len(items))))

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        scores = self._scores(queries.users, np.asarray(items)[:, None])
        return Scores.from_nan(scores.values[:, 0])

    def _scores(self, users: CodeArray, items: CodeArray) -> Scores:
        rows = (*arrays_of(self.rows_), self.groups_)
        wanted = np.asarray(users, dtype=np.int64), np.ascontiguousarray(items, dtype=np.int64)
        variant = _NAMES.index(self.variant)
        values: FloatArray = _predictions(rows, self.differences_, self.counts_, self.means_, *wanted, variant)
        return Scores.where(~np.isnan(values), values)


@compiled()
def _differences(indptr, items, ratings, groups, sizes):  # type: ignore[no-untyped-def]
    """By group, the mean difference of each pair of items, and over how many users."""
    differences = np.zeros((sizes[0], sizes[1], sizes[1]))
    counts = np.zeros((sizes[0], sizes[1], sizes[1]), dtype=np.int64)
    for user in range(len(indptr) - 1):
        for p in range(indptr[user], indptr[user + 1]):
            group = groups[p]
            if group < 0:
                continue
            for q in range(indptr[user], indptr[user + 1]):
                if groups[q] == group:
                    differences[group, items[p], items[q]] += ratings[p] - ratings[q]
                    counts[group, items[p], items[q]] += 1
    for group in range(sizes[0]):
        for i in range(sizes[1]):
            counts[group, i, i] = 0
            for j in range(sizes[1]):
                if counts[group, i, j] > 0:
                    differences[group, i, j] /= counts[group, i, j]
    return differences, counts


@compiled()
def _predictions(rows, differences, counts, means, users, items, variant):  # type: ignore[no-untyped-def]
    indptr, own, ratings, groups = rows
    values = np.empty(items.shape)
    for n in range(len(users)):
        user = users[n]
        for place in range(items.shape[1]):
            item = items[n, place]
            total, weight = 0.0, 0.0
            for p in range(indptr[user], indptr[user + 1]):
                if groups[p] < 0:
                    continue
                count = counts[groups[p], item, own[p]]
                if count > 0:
                    rating = 0.0 if variant == 2 else ratings[p]
                    share = float(count) if variant in (0, 3) else 1.0
                    total += share * (differences[groups[p], item, own[p]] + rating)
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
    parameters=(Parameter("variant", "weighted", "how differences are averaged", choices=VARIANTS),),
    predicts=True,
    cite=_LEMIRE,
    defines=True,
)
