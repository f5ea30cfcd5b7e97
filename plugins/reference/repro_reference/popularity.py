"""Popularity: the same list for every user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Choice, Parameter, Queries, Scores
from repro.plugin.api.scores import Mask
from repro_reference.checks import one_of

_CREMONESI = "Cremonesi, Koren & Turrin (2010), RecSys, doi:10.1145/1864708.1864721"
COUNTS = (
    Choice(
        "rows",
        "the training rows of the item",
        "n(i) = |rows of i|",
        _CREMONESI,
        ("lenskit/popularity", "cornac/popularity", "recpack/popularity"),
    ),
    Choice(
        "users",
        "the users with training rows of the item: a user with several of them counts once",
        "n(i) = |U(i)|",
        used_by=("rectools/popularity",),
    ),
    Choice("sum", "the sum of its training ratings", "n(i) = sum of r(., i)"),
    Choice("mean", "the mean of its training ratings", "n(i) = sum of r(., i) / |rows of i|", _CREMONESI),
)
SCALES = (
    Choice(
        "count",
        "the number itself",
        "n(i)",
        _CREMONESI,
        ("rectools/popularity", "cornac/popularity"),
    ),
    Choice("share", "its share of the highest", "n(i) / max n", used_by=("recpack/popularity",)),
    Choice("rank", "its rank from below, of equal ones the mean of their ranks", "|{j: n(j) < n(i)}| + (ties + 1) / 2"),
    Choice(
        "quantile",
        "the share of items with no more in the sum over all items",
        "sum of n(j) over n(j) <= n(i) / sum of n",
    ),
    Choice(
        "quantile-in-order",
        "the same, but of equal items those with higher ids are more popular (in LensKit, the order of a sort that is "
        "not stable)",
        "sum of n(j) over n(j) < n(i), and n(j) = n(i) with j <= i / sum of n",
    ),
)


@dataclass(eq=False, kw_only=True)
class Popularity:
    """The number of times that an item occurs in the training rows (Cremonesi, Koren & Turrin 2010, TopPop).

    ``count`` says what is counted: rows, whatever their ratings; users; or the sum or the mean of ratings, which is
    MovieAvg. ``scale`` says what becomes of the number: except ``rank`` and the quantiles of ratings that are negative,
    all scales leave the order of items with different numbers as it is.

    An item without training rows is unscored, not 0. All users are scored, with or without training rows.
    """

    count: str = "rows"
    scale: str = "count"

    def __post_init__(self) -> None:
        one_of(self, count=COUNTS, scale=SCALES)

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.known_ = train.item_counts() > 0
        self.scores_ = scaled(self.scale, self._numbers(train), self.known_)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        shape = len(queries), len(items)
        return Scores.where(self.known_[items], np.broadcast_to(self.scores_[items], shape))

    def _numbers(self, train: Interactions) -> FloatArray:
        """n(i)."""
        rows = train.item_counts().astype(np.float64)
        if self.count == "rows":
            return rows
        if self.count == "users":
            pairs = np.unique(train.items.astype(np.int64) * max(train.n_users, 1) + train.users)
            return np.bincount(pairs // max(train.n_users, 1), minlength=train.n_items).astype(np.float64)
        matrix = train.matrix()  # sorted, so that sums do not depend on the order of rows
        sums = np.bincount(matrix.indices, weights=matrix.data, minlength=train.n_items).astype(np.float64)
        return sums if self.count == "sum" else sums / np.maximum(rows, 1.0)


def scaled(scale: str, numbers: FloatArray, known: Mask) -> FloatArray:
    """The numbers of known items in another scale."""
    own = numbers[known]
    scores = np.zeros(len(numbers))
    values, places, counts = np.unique(own, return_inverse=True, return_counts=True)
    match scale:
        case "share":
            scores[known] = own / (own.max(initial=0.0) or 1.0)
        case "rank":
            scores[known] = (np.cumsum(counts) - (counts - 1) / 2.0)[places]
        case "quantile":
            scores[known] = (np.cumsum(values * counts) / (own.sum() or 1.0))[places]
        case "quantile-in-order":
            order = np.argsort(own, kind="stable")
            cumulated = np.empty(len(own))
            cumulated[order] = np.cumsum(own[order])
            scores[known] = cumulated / (own.sum() or 1.0)
        case _:
            scores[known] = own
    return scores


declaration = Algorithm(
    "popularity",
    "how often the item occurs in the training rows",
    Popularity,
    parameters=(
        Parameter("count", "rows", "what is counted", choices=COUNTS),
        Parameter("scale", "count", "the scale of scores", choices=SCALES),
    ),
    cite=_CREMONESI,
    defines=True,
)
