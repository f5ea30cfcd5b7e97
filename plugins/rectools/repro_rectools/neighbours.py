"""Similarities between items, by the classes of implicit that RecTools wraps."""

from __future__ import annotations

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Queries, Scores
from repro.plugin.api.adapting import neighbour_sums
from repro_rectools.training import RecToolsRecommender, Training


class NeighbourRecommender(RecToolsRecommender):
    """score(u, i) is the sum over the items j of u of weight(u, j) similarity(j, i).

    Only the K highest similarities of each item j are kept, including that with itself. The sum is not normalised.
    Unscored: users or items without training rows, and items that have no similarity with any of the user's items;
    RecTools' ``recommend`` leaves these out of its lists too.
    """

    def fit(self, train: Interactions, *, seed: int) -> None:
        training = Training.of(train, self.weigh)
        self.similarity_ = self.model(seed).fit(training.dataset).model.similarity
        self.rows_ = training.matrix()
        self.training_ = training

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self.training_.block(queries.users, items, self._sums)

    def _sums(self, users: CodeArray, items: CodeArray) -> FloatArray:
        return neighbour_sums(self.rows_[users], self.similarity_[:, items])
