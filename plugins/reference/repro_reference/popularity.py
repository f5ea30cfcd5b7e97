"""Popularity: the same list for every user."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import CodeArray, Interactions
from repro.plugin import Algorithm, Queries, Scores


class Popularity:
    """The number of training rows of an item, whatever their ratings (Cremonesi, Koren & Turrin 2010, TopPop).

    An item without training rows is unscored, not 0. All users are scored, with or without training rows.
    """

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.counts_ = train.item_counts().astype(np.float64)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        counts = np.broadcast_to(self.counts_[items], (len(queries), len(items)))
        return Scores.where(counts > 0, counts)


declaration = Algorithm(
    "popularity",
    "number of training rows of the item",
    Popularity,
    cite="Cremonesi, Koren & Turrin (2010), RecSys, doi:10.1145/1864708.1864721",
    defines=True,
)
