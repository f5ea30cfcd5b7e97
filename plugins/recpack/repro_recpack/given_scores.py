"""An algorithm of RecPack's own base class with given scores, registered for RecPack's pipelines by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from recpack.algorithms.base import Algorithm
from recpack.pipelines import ALGORITHM_REGISTRY

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class GivenScores(Algorithm):
    """Predicts for users with interactions only, as its base class requires."""

    def __init__(self, scores: csr_matrix) -> None:
        super().__init__()
        self.scores = scores

    def _fit(self, X: csr_matrix) -> None:
        self.fitted_ = True

    def _predict(self, X: csr_matrix) -> csr_matrix:
        from scipy.sparse import csr_matrix

        entries = self.scores.tocoo()
        has = np.diff(X.indptr)[entries.row] > 0
        return csr_matrix((entries.data[has], (entries.row[has], entries.col[has])), shape=entries.shape)


ALGORITHM_REGISTRY.register(GivenScores.__name__, GivenScores)
