"""Item mean: the mean rating of the item."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Queries, Scores


def item_means(train: Interactions) -> FloatArray:
    """The mean training rating of each item; NaN for an item without training rows."""
    matrix = train.matrix()
    sums = np.bincount(matrix.indices, weights=matrix.data, minlength=train.n_items)
    counts = train.item_counts()
    return np.divide(sums, counts, out=np.full(train.n_items, np.nan), where=counts > 0)


class ItemMean:
    """The mean training rating of the item (Cremonesi, Koren & Turrin 2010, MovieAvg): r(u, i) = mean of r(., i).

    An item without training rows is unscored; all users are scored.
    """

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.means_ = item_means(train)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        means = np.broadcast_to(self.means_[items], (len(queries), len(items)))
        return Scores.where(~np.isnan(means), means)

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        means = self.means_[items]
        return Scores.where(~np.isnan(means), means)


declaration = Algorithm(
    "item-mean",
    "mean training rating of the item",
    ItemMean,
    predicts=True,
    cite="Cremonesi, Koren & Turrin (2010), RecSys, doi:10.1145/1864708.1864721",
)
