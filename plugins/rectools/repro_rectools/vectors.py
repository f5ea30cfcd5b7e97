"""Models whose scores are products of vectors of users and items."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import GroupedRows, Queries, Scores, by_code
from repro_rectools.training import RecToolsRecommender, Training

# How many users are multiplied at a time.
_GROUP_SIZE = 256


class VectorRecommender(RecToolsRecommender):
    """score(u, i) is the inner product of the vectors of u and i.

    Products have the precision of the vectors, as in RecTools' own ranking. Unscored: users or items without training
    rows.
    """

    def fit(self, train: Interactions, *, seed: int) -> None:
        from threadpoolctl import threadpool_limits

        training = Training.of(train, self.weigh)
        with threadpool_limits(1, "blas"):  # threads would add up in another order
            vectors = self.model(seed).fit(training.dataset).get_vectors()
        self.training_ = training
        users, items = map(np.ascontiguousarray, vectors)
        self.vectors_ = users, items
        self.products_ = GroupedRows(len(users), _GROUP_SIZE, lambda first, end: users[first:end] @ items.T)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self.training_.block(queries.users, items, self.products_.block, complete=True)

    def state(self) -> dict[str, FloatArray]:
        """The vectors of ``get_vectors``; those of BPR have a 1 and the item's bias as their last column."""
        users, items = self.vectors_
        state = {
            "user_factors": by_code(users, self.training_.users),
            "item_factors": by_code(items, self.training_.items),
        }
        if (users[:, -1] == 1).all():
            state["item_bias"] = state["item_factors"][:, -1]
            state |= {name: state[name][:, :-1] for name in ("user_factors", "item_factors")}
        return state
