"""Models that end in vectors of users and items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Scores
from repro_rectools.training import Training, Weigh


class VectorRecommender:
    """score(u, i) is the inner product of the vectors of u and i.

    RecTools' own ranking adds up in single precision, as the vectors are; here the same vectors are multiplied in
    double precision, and without BLAS, whose rounding would depend on how many users and items are asked for
    together. Unscored: users or items without training rows.
    """

    def __init__(self, model: Callable[[int], Any], weigh: Weigh) -> None:
        self.model = model
        self.weigh = weigh

    def fit(self, train: Interactions, *, seed: int) -> None:
        from threadpoolctl import threadpool_limits

        training = Training.of(train, self.weigh)
        with threadpool_limits(1, "blas"):  # threads would add up in another order
            vectors = self.model(seed).fit(training.dataset).get_vectors()
        self.training_ = training
        self.user_vectors_, self.item_vectors_ = (np.asarray(one, dtype=np.float64) for one in vectors)

    def score(self, users: CodeArray, items: CodeArray) -> Scores:
        return self.training_.block(users, items, self._products)

    def _products(self, users: CodeArray, items: CodeArray) -> FloatArray:
        products: FloatArray = np.einsum("uf,if->ui", self.user_vectors_[users], self.item_vectors_[items])
        return products
