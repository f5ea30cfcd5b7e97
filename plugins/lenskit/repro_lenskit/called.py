"""Scorers that are called for one user after the other: their scoring is compiled, or a look-up."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray
from repro.plugin import FALLBACK, Queries, Scores
from repro_lenskit.recommender import NumberArray, Personal


class CalledForEachUser(Personal):
    """LensKit's own call for each user: nearest neighbours, which compiled code collects."""

    def _learn(self, data: Any) -> None:
        self.data_ = data
        self.histories_ = data.interactions().matrix()
        self.user_ids_ = data.users.ids()

    def _row(self, user: int, items: NumberArray) -> npt.NDArray[np.float32]:
        from lenskit.data import ItemList, RecQuery

        query = RecQuery(user_id=self.user_ids_[user], history_items=self.histories_.row_items(number=user))
        distinct, positions = np.unique(items, return_inverse=True)
        scored = self.component(query, ItemList(item_nums=distinct, vocabulary=self.data_.items))
        values: npt.NDArray[np.float32] = scored.scores()[positions]
        return values


class KnownRatings(CalledForEachUser):
    """KnownRatingScorer. As an indicator, items that the user does not have get 0, also unknown items (a fallback)."""

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        scores = super().score(queries, items)
        if self.component.config.score != "indicator" or scores.state is None:
            return scores
        unknown = (self.users_[queries.users] >= 0)[:, None] & (self.items_[items] < 0)
        return Scores(np.where(unknown, 0.0, scores.values), np.where(unknown, FALLBACK, scores.state).astype(np.uint8))
