"""Scores that do not depend on a user's history: popularity, biases and random order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.errors import PluginError
from repro.plugin import FALLBACK, SCORED, Queries, Scores
from repro_lenskit.recommender import NumberArray, Trained


class Popularity(Trained):
    """PopScorer: the same scores for every user, known or not."""

    def _learn(self, data: Any) -> None:
        self.scores_ = np.append(self.component.item_scores_, np.nan)  # the last is for number -1: unknown

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return Scores.from_nan(np.tile(self.scores_[self.items_[items]], (len(queries.users), 1)))


class RecentPopularity(Popularity):
    """TimeBoundedPopScore: popularity after a point in time."""

    needs_times = True


class Bias(Trained):
    """BiasScorer: overall mean, item bias and user bias.

    An unknown user or item has a bias of 0. For an unknown user, the mean and the item's bias are a score; for an
    unknown item, LensKit's number says nothing about the item and is a fallback. If only users have biases, the user
    must be known instead.
    """

    def _learn(self, data: Any) -> None:
        model = self.component.model_
        self.overall_ = np.float32(model.global_bias)
        self.item_biases_ = _padded(model.item_biases, data.item_count)
        self.user_biases_ = _padded(model.user_biases, data.user_count)
        self.items_count_ = model.item_biases is not None

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self._biases(self.users_[queries.users][:, None], self.items_[items][None, :])

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        return self._biases(self.users_[queries.users], self.items_[items])

    def _biases(self, users: NumberArray, items: NumberArray) -> Scores:
        values: FloatArray = (self.overall_ + self.item_biases_[items] + self.user_biases_[users]).astype(np.float64)
        learnt = np.broadcast_to((items if self.items_count_ else users) >= 0, values.shape)
        return Scores(values, None if learnt.all() else np.where(learnt, SCORED, FALLBACK).astype(np.uint8))


def _padded(biases: npt.NDArray[np.float32] | None, size: int) -> npt.NDArray[np.float32]:
    """Biases by number, and 0 at the end for number -1: unknown."""
    return np.append(np.zeros(size, dtype=np.float32) if biases is None else biases, np.float32(0.0))


class RandomOrder:
    """RandomSelector on all items: n for its first item, and 1 for the last.

    Each user has their own order, drawn from the seed and the user's id, so that no training rows are needed.
    """

    def fit(self, train: Interactions, *, seed: int) -> None:
        from lenskit.basic import RandomSelector
        from lenskit.data import ItemList

        numbers = train.user_ids.dtype.kind == "i"
        if numbers and len(train.user_ids) and int(train.user_ids[0]) < 0:
            raise PluginError("LensKit draws from user ids, and takes no negative numbers; give ids of at least 0")
        self.user_ids_ = train.user_ids.tolist()
        self.all_ = ItemList(item_ids=np.arange(train.n_items))
        self.selector_ = RandomSelector(n=-1, rng=(seed, "user"))

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        return Scores(np.array([self._order(user)[items] for user in users.tolist()]).reshape(len(users), len(items)))

    def _order(self, user: int) -> FloatArray:
        from lenskit.data import RecQuery

        picked = self.selector_(self.all_, RecQuery(user_id=self.user_ids_[user])).ids()
        values = np.empty(len(picked))
        values[picked] = np.arange(len(picked), 0, -1)
        return values
