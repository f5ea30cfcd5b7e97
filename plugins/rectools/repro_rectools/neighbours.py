"""Similarities between items, by the classes of implicit that RecTools wraps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Queries, Scores
from repro.plugin.api.adapting import Weigh, neighbour_sums
from repro_rectools.training import Training


class NeighbourRecommender:
    """score(u, i) is the sum over the items j of u of weight(u, j) similarity(j, i).

    Of the similarities of each item j, only the K highest are kept, among them that with itself. The sum is not
    divided by anything. Unscored: users or items without training rows, and items that none of the user's items has
    a similarity with, which ``recommend`` of RecTools leaves out of its lists too.
    """

    def __init__(self, model: Callable[[int], Any], weigh: Weigh) -> None:
        self.model = model
        self.weigh = weigh

    def fit(self, train: Interactions, *, seed: int) -> None:
        training = Training.of(train, self.weigh)
        self.similarity_ = self.model(seed).fit(training.dataset).model.similarity
        self.rows_ = training.matrix()
        self.training_ = training

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self.training_.block(queries.users, items, self._sums)

    def _sums(self, users: CodeArray, items: CodeArray) -> FloatArray:
        return neighbour_sums(self.rows_[users], self.similarity_[:, items])
