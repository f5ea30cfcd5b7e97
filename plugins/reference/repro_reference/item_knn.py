"""Item-based nearest neighbours: the user's ratings of similar items."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, Interactions
from repro.plugin import Queries, Scores
from repro_reference.bias import Baseline, damped_means
from repro_reference.knn import NearestNeighbours, declare


class ItemKNN(NearestNeighbours):
    """Neighbours of (u, i) are items similar to i that u rated (Sarwar et al. 2001).

    The center ``mean`` is the mean rating of the item. ``normalise = false`` with the cosine is the NNCosNgbr of
    Cremonesi, Koren & Turrin (2010), whose shrinkage is 100 and whose center is the baseline. For the formulas and
    parameters see :class:`NearestNeighbours`.
    """

    by_items = True

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = self.neighbours_.block(items, self.lists_[users], self.sums_).T * self.deviations_[items]
        return Scores.where(~np.isnan(values), self.baseline_.block(users, items) + values)

    def _predict(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = self.neighbours_.pairs(items, self.lists_, users, self.means_) * self.deviations_[items]
        return Scores.where(~np.isnan(values), self.baseline_.pairs(users, items) + values)

    def _by_list(self, contributions: csr_array) -> csr_array:
        return contributions

    def _means(self, train: Interactions) -> Baseline:
        ratings = train.matrix()
        means = damped_means(ratings.indices, ratings.data, train.n_items, 0.0)
        return Baseline(0.0, np.zeros(train.n_users), means)


declaration = declare(
    "item-knn",
    "the user's ratings of the most similar items; predicts ratings if normalised",
    ItemKNN,
    "Sarwar, Karypis, Konstan & Riedl (2001), WWW, doi:10.1145/371920.372071",
)
