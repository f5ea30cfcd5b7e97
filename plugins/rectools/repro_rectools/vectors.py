"""Models that end in vectors of users and items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from repro.data.interactions import CodeArray, Interactions
from repro.plugin import GroupedRows, Queries, Scores
from repro.plugin.api.adapting import Weigh
from repro_rectools.training import Training

# How many users are multiplied at a time.
_TOGETHER = 256


class VectorRecommender:
    """score(u, i) is the inner product of the vectors of u and i.

    Products are in the precision of the vectors, as in RecTools' own ranking. Unscored: users or items without training
    rows.
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
        users, items = map(np.ascontiguousarray, vectors)
        self.products_ = GroupedRows(len(users), _TOGETHER, lambda first, end: users[first:end] @ items.T)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self.training_.block(queries.users, items, self.products_.block, complete=True)
