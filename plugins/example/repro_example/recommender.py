"""A whole plug-in: a framework with one algorithm, the popularity of items where old interactions count less."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import CodeArray, Interactions
from repro.errors import PluginError
from repro.plugin import UNSCORED, Algorithm, Framework, Parameter, Queries, Scores, impl


class DecayedPopularity:
    """Each interaction with an item counts 2^(-age / half-life); users are all alike (Ji et al., SIGIR 2020)."""

    def __init__(self, half_life: float) -> None:
        self._half_life = half_life * 24 * 60 * 60

    def fit(self, train: Interactions, *, seed: int) -> None:
        train = train.canonical()  # sums of floats depend on the order of rows
        if train.timestamps is None:
            raise PluginError("decayed-popularity needs timestamps, and this data set has none")
        age = train.timestamps.max() - train.timestamps
        self._scores = np.bincount(train.items, 2.0 ** (-age / self._half_life), minlength=train.n_items)
        self._unknown = train.item_counts() == 0

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        shape = (len(queries), len(items))
        state = np.where(self._unknown[items], UNSCORED, 0).astype(np.uint8)
        return Scores(np.broadcast_to(self._scores[items], shape), np.broadcast_to(state, shape))


@impl
def repro_framework() -> Framework:
    half_life = Parameter("half_life", 30.0, "after how many days an interaction counts half")
    algorithm = Algorithm("decayed-popularity", "recent popularity", DecayedPopularity, (half_life,))
    return Framework("example", "0.1.0", "the plug-in of the tutorial", (algorithm,))
