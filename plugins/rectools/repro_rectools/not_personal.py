"""Popularity and random order: models that are not personalised."""

from __future__ import annotations

from typing import Any

import numpy as np

from repro.data.interactions import CodeArray, Interactions
from repro.errors import PluginError
from repro.plugin import FALLBACK, SCORED, UNSCORED, Queries, Scores
from repro.rng import child_keys, stream
from repro_rectools.training import RecToolsRecommender, Training


class PopularRecommender(RecToolsRecommender):
    """The popularity or mean rating of an item, the same for every user, with or without training rows.

    With ``inverse`` RecTools reverses its list and leaves the scores; here the scores change sign, so that higher is
    better. Unscored: items without training rows, or without rows in the ``period`` that counts; with ``add_cold``
    the latter get RecTools' 0, a fallback.
    """

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
        fallback = known & ~counted[training.items]
        self.state_ = np.where(np.isnan(self.values_), UNSCORED, np.where(fallback, FALLBACK, SCORED)).astype(np.uint8)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        shape = (len(queries), len(items))
        values = np.broadcast_to(self.values_[items], shape).copy()
        state = np.broadcast_to(self.state_[items], shape).copy()
        return Scores(values, state if state.any() else None)

    @staticmethod
    def _counted(model: Any, training: Training) -> Any:
        """The items with rows in the period that counts, by inner id."""
        rows = training.dataset.interactions.df
        within = model._filter_interactions(rows, model.period, model.begin_from)
        return within["item_id"].unique()


class RandomRecommender(RecToolsRecommender):
    """A random order of the items with training rows for each user: n for the first item, 1 for the last.

    RecTools draws all lists from one generator, so that a user's list depends on the lists before. Here each user
    has a model of their own, whose ``random_state`` is derived from the seed and the user's id, and its first list.
    """

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.training_ = Training.of(train, self.weigh)
        self.random_states_ = child_keys(stream(seed, "rectools", "random"), train.user_keys)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        n_items = self.training_.n_items
        inner = self.training_.items[items]
        scores = np.full((len(users), n_items + 1), np.nan)  # the last column is for unknown items, at -1
        for row, user in enumerate(users):
            model = self.model(int(self.random_states_[user])).fit(self.training_.dataset)
            # The public recommend makes a data frame of each list, which takes ten times as long.
            _, listed, ranks = model._recommend_cold([user], self.training_.dataset, n_items, None)
            scores[row, listed] = ranks
        return Scores.from_nan(scores[:, inner])
