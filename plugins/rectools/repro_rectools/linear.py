"""EASE as RecTools has it."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Queries, Scores
from repro_rectools.training import RecToolsRecommender, Training


class EASERecommender(RecToolsRecommender):
    """score(u, i) is the sum over the items j of u of x(u, j) B(i, j).

    B is that of Steck (2019), B(i, j) = -P(i, j) / P(j, j), in single precision. The paper sums x(u, j) B(j, i).
    RecTools uses the transposed weights: it divides by P(j, j) of the user's item and not by P(i, i) of the
    candidate, and so gives other scores and other lists. Unscored: users or items without training rows.
    """

    def fit(self, train: Interactions, *, seed: int) -> None:
        from threadpoolctl import threadpool_limits

        training = Training.of(train, self.weigh)
        with threadpool_limits(1, "blas"):  # threads would add up in another order
            model = self.model(seed).fit(training.dataset)
        self.training_ = training
        self.rows_ = training.matrix()
        self.weights_ = np.ascontiguousarray(model.weight.T, dtype=np.float64)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self.training_.block(queries.users, items, self._sums)

    def _sums(self, users: CodeArray, items: CodeArray) -> FloatArray:
        sums: FloatArray = self.rows_[users] @ self.weights_
        return sums[:, items]
