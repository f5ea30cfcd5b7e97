"""User-based nearest neighbours: ratings of similar users."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, Interactions
from repro.plugin import Queries, Scores
from repro_reference.bias import Baseline, damped_means, users_of_entries
from repro_reference.knn import NearestNeighbours, declare


class UserKNN(NearestNeighbours):
    """Neighbours of (u, i) are users similar to u who rated i (Resnick et al. 1994; Herlocker et al. 1999).

    The center ``mean`` is the mean rating of the user, as in Resnick's formula. For the formulas and parameters
    see :class:`NearestNeighbours`.
    """

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = self.neighbours_.block(users, self.lists_[items], self.sums_) * self.deviations_[users][:, None]
        return Scores.where(~np.isnan(values), self.baseline_.block(users, items) + values)

    def _predict(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = self.neighbours_.pairs(users, self.lists_, items, self.means_) * self.deviations_[users]
        return Scores.where(~np.isnan(values), self.baseline_.pairs(users, items) + values)

    def _by_list(self, contributions: csr_array) -> csr_array:
        return csr_array(contributions.T)

    def _means(self, train: Interactions) -> Baseline:
        ratings = train.matrix()
        means = damped_means(users_of_entries(ratings), ratings.data, train.n_users, 0.0)
        return Baseline(0.0, means, np.zeros(train.n_items))


declaration = declare(
    "user-knn",
    "ratings of the item by the most similar users; predicts ratings if normalised",
    UserKNN,
    "Herlocker, Konstan, Borchers & Riedl (1999), SIGIR, doi:10.1145/312624.312682",
)
