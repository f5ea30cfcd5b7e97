"""Models that end in factors of users and items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import GroupedRows, ParameterValue, Queries, Scores
from repro_implicit.training import Training

# How many users are multiplied at a time.
_TOGETHER = 256


class FactorModel:
    """score(u, i) is the inner product of the factors of u and i, among which may be biases.

    Products are in the precision of the factors, as in implicit's own ``recommend``. Unscored: users or items without
    training rows, which implicit is not told of.
    """

    def __init__(
        self, own: str, parameters: Mapping[str, ParameterValue], weigh: Callable[[FloatArray], FloatArray]
    ) -> None:
        self.own = own
        self.parameters = dict(parameters)
        self.weigh = weigh

    def fit(self, train: Interactions, *, seed: int) -> None:
        from threadpoolctl import ThreadpoolController

        training = Training.of(train, self.weigh)
        threads = ThreadpoolController()
        # The threads of implicit are those of num_threads; beside them it wants a BLAS with one.
        with threads.limit(limits=1, user_api="blas"):
            model = resolve_name(self.own)(**self.parameters, random_state=seed)
            model.fit(training.matrix.astype(np.float32), show_progress=False)
        self.training_ = training
        users, items = np.asarray(model.user_factors), np.asarray(model.item_factors)

        def rows(first: int, end: int) -> npt.NDArray[np.float32]:
            with threads.limit(limits=1, user_api="blas"):  # with more of them a product rounds in other places
                product: npt.NDArray[np.float32] = users[first:end] @ items.T
            return product

        self.products_ = GroupedRows(len(users), _TOGETHER, rows)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self.training_.block(queries.users, items, self.products_.block, complete=True)
