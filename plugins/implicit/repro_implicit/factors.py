"""Models whose scores are products of factors of users and items."""

from __future__ import annotations

from pkgutil import resolve_name

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import GroupedRows, Queries, Scores, by_code
from repro.plugin.api.adapting import known_block
from repro_implicit.training import ImplicitRecommender, Training

# How many users are multiplied at a time.
_GROUP_SIZE = 256


class FactorModel(ImplicitRecommender):
    """score(u, i) is the inner product of the factors of u and i, which may include biases.

    Products have the precision of the factors, as in implicit's own ``recommend``. Unscored: users or items without
    training rows, which implicit does not see.
    """

    def fit(self, train: Interactions, *, seed: int) -> None:
        from threadpoolctl import ThreadpoolController

        training = Training.of(train, self.weigh)
        threads = ThreadpoolController()
        # implicit has its own threads (num_threads), and asks for a BLAS with one.
        with threads.limit(limits=1, user_api="blas"):
            model = resolve_name(self.own)(**self.parameters, random_state=seed)
            model.fit(training.matrix.astype(np.float32), show_progress=False)
        self.training_ = training
        users, items = np.asarray(model.user_factors), np.asarray(model.item_factors)
        self.vectors_ = users, items

        def rows(first: int, end: int) -> npt.NDArray[np.float32]:
            with threads.limit(limits=1, user_api="blas"):  # a product rounds differently with more threads
                product: npt.NDArray[np.float32] = users[first:end] @ items.T
            return product

        self.products_ = GroupedRows(len(users), _GROUP_SIZE, rows)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        rows, columns = self.training_.rows[queries.users], self.training_.columns[items]
        return known_block(rows, columns, self.products_.block, complete=True)

    def state(self) -> dict[str, FloatArray]:
        """Factors, and the biases that BPR and LMF have as further columns, next to a column of ones."""
        width = int(self.parameters["factors"])
        users, items = (
            by_code(vectors, positions)
            for vectors, positions in zip(self.vectors_, (self.training_.rows, self.training_.columns), strict=True)
        )
        state = {"user_factors": users[:, :width], "item_factors": items[:, :width]}
        if items.shape[1] > width:
            state["item_bias"] = items[:, width]
        if items.shape[1] > width + 1:
            state["user_bias"] = users[:, width + 1]
        return state
