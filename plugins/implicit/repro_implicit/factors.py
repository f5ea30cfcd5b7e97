"""Models that end in factors of users and items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import ParameterValue, Scores
from repro_implicit.training import Training


class FactorModel:
    """score(u, i) is the inner product of the factors of u and i, among which may be biases.

    implicit's own ``recommend`` adds up in single precision, as the factors are; here the same factors are
    multiplied in double precision, and without BLAS, whose rounding would depend on how many users and items are
    asked for together. Unscored: users or items without training rows, which implicit is not told of.
    """

    def __init__(
        self, own: str, parameters: Mapping[str, ParameterValue], weigh: Callable[[FloatArray], FloatArray]
    ) -> None:
        self.own = own
        self.parameters = dict(parameters)
        self.weigh = weigh

    def fit(self, train: Interactions, *, seed: int) -> None:
        from threadpoolctl import threadpool_limits

        training = Training.of(train, self.weigh)
        # The threads of implicit are those of num_threads; beside them it wants a BLAS with one.
        with threadpool_limits(1, "blas"):
            model = resolve_name(self.own)(**self.parameters, random_state=seed)
            model.fit(training.matrix.astype(np.float32), show_progress=False)
        self.training_ = training
        self.user_factors_ = np.asarray(model.user_factors, dtype=np.float64)
        self.item_factors_ = np.asarray(model.item_factors, dtype=np.float64)

    def score(self, users: CodeArray, items: CodeArray) -> Scores:
        return self.training_.block(users, items, self._products)

    def _products(self, rows: CodeArray, columns: CodeArray) -> FloatArray:
        products: FloatArray = np.einsum("uf,if->ui", self.user_factors_[rows], self.item_factors_[columns])
        return products
