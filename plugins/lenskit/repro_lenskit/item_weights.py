"""Linear item-item models: a user's scores are the sum of the weights of the user's items."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repro_lenskit.recommender import NumberArray, Personal


class ItemWeights(Personal):
    """score(u, i) = sum over the items j of u of w(j, i)."""

    def _learn(self, data: Any) -> None:
        self.histories_ = data.interactions().matrix().scipy(layout="csr")
        self.weights_ = self.component.weights

    def _history(self, user: int) -> NumberArray:
        bounds = self.histories_.indptr[user : user + 2]
        items: NumberArray = self.histories_.indices[bounds[0] : bounds[1]]
        return items


class Dense(ItemWeights):
    """EASEScorer: the weights are a dense matrix, and only the rows of the user's items are summed."""

    def _row(self, user: int, items: NumberArray) -> npt.NDArray[np.float32]:
        sums = self.weights_[self._history(user)].sum(axis=0, dtype=np.float64)
        return sums.astype(np.float32)[items]


class Sparse(ItemWeights):
    """SLIMScorer: the weights are a sparse matrix, and items without a weight from the user's items score 0."""

    def _row(self, user: int, items: NumberArray) -> npt.NDArray[np.float32]:
        from scipy.sparse import csr_array

        history = self._history(user)
        ones = np.ones(len(history), dtype=np.float32)
        row = csr_array((ones, history, [0, len(history)]), shape=(1, self.weights_.shape[0]))
        values: npt.NDArray[np.float32] = (row @ self.weights_).toarray()[0]
        return values[items]
