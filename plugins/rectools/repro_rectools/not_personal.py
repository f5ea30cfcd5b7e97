"""Popularity and chance: models that know nothing about the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from repro.data.interactions import CodeArray, Interactions
from repro.errors import PluginError
from repro.plugin import FALLBACK, SCORED, UNSCORED, Queries, Scores
from repro.plugin.api.adapting import Weigh
from repro.rng import child_keys, stream
from repro_rectools.training import Training


class PopularRecommender:
    """How often, or how well liked, an item is, the same for every user, with or without training rows.

    With ``inverse`` RecTools turns its list round and leaves the scores; here they change sign, so that a higher one
    is better. Unscored: items without rows in training, or in the ``period`` that counts; with ``add_cold`` the
    latter get the 0 that RecTools makes up, a fallback.
    """

    def __init__(self, model: Callable[[int], Any], weigh: Weigh) -> None:
        self.model = model
        self.weigh = weigh

    def fit(self, train: Interactions, *, seed: int) -> None:
        model = self.model(seed)
        if train.timestamps is None and (model.period is not None or model.begin_from is not None):
            raise PluginError("period and begin_from need timestamps, and the training rows have none; leave them out")
        training = Training.of(train, self.weigh)
        inner, scores = model.fit(training.dataset).popularity_list
        by_inner = np.full(training.n_items, np.nan)
        by_inner[inner] = -scores if model.inverse else scores
        counted = np.zeros(training.n_items, dtype=bool)
        counted[self._counted(model, training)] = True
        known = training.items >= 0
        self.values_ = np.where(known, by_inner[training.items], np.nan)
        made_up = known & ~counted[training.items]
        self.state_ = np.where(np.isnan(self.values_), UNSCORED, np.where(made_up, FALLBACK, SCORED)).astype(np.uint8)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        shape = (len(users), len(items))
        values = np.broadcast_to(self.values_[items], shape).copy()
        state = np.broadcast_to(self.state_[items], shape).copy()
        return Scores(values, state if state.any() else None)

    @staticmethod
    def _counted(model: Any, training: Training) -> Any:
        """The items with rows in the time that counts, by inner id."""
        rows = training.dataset.interactions.df
        within = model._filter_interactions(rows, model.period, model.begin_from)
        return within["item_id"].unique()


class RandomRecommender:
    """A random order of the items with training rows for each user, with or without: n for the first, 1 for the last.

    RecTools goes on drawing from one generator, so that a user's list depends on who was asked for before. Here each
    user has a model whose ``random_state`` comes from the seed and the user's id, and its first list.
    """

    def __init__(self, model: Callable[[int], Any], weigh: Weigh) -> None:
        self.model = model
        self.weigh = weigh

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.training_ = Training.of(train, self.weigh)
        self.random_states_ = child_keys(stream(seed, "rectools", "random"), train.user_keys)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        n_items = self.training_.n_items
        inner = self.training_.items[items]
        scores = np.full((len(users), n_items + 1), np.nan)  # the last is that of unknown items, at -1
        for row, user in enumerate(users):
            model = self.model(int(self.random_states_[user])).fit(self.training_.dataset)
            # Not through the public recommend: that makes a data frame of each list, which takes ten times as long.
            _, listed, ranks = model._recommend_cold([user], self.training_.dataset, n_items, None)
            scores[row, listed] = ranks
        return Scores.from_nan(scores[:, inner])
