"""Random scores, a lower bound for comparisons."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import CodeArray, Interactions
from repro.plugin import Algorithm, Queries, Scores
from repro.rng import child_keys, stream, uniform


class Random:
    """A uniform number in [0, 1) for each user and item, drawn from the stream of the seed and the two ids.

    It needs no training rows, so every pair is scored.
    """

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.key_ = stream(seed, "reference", "random")
        self.user_keys_ = train.user_keys
        self.item_keys_ = train.item_keys

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        pairs = np.broadcast_arrays(self.user_keys_[users][:, None], self.item_keys_[items][None, :])
        return Scores(uniform(child_keys(self.key_, *pairs)))


declaration = Algorithm("random", "a uniform number for each user and item", Random)
