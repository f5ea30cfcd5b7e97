"""Scorers that the recommender calls for one user after the other; each call runs compiled code or looks up ratings."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray
from repro.plugin import FALLBACK, Queries, Scores
from repro_lenskit.recommender import NumberArray, Personal


class OneUserScorer(Personal):
    """Calls a LensKit component once for each user, as for nearest neighbours, where LensKit's code is compiled."""

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


class KnownRatings(OneUserScorer):
    """KnownRatingScorer; with ``score = "indicator"``, items without a rating by the user, also unknown ones, get 0."""

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        scores = super().score(queries, items)
        if self.component.config.score != "indicator" or scores.state is None:
            return scores
        unknown = (self.users_[queries.users] >= 0)[:, None] & (self.items_[items] < 0)
        return Scores(np.where(unknown, 0.0, scores.values), np.where(unknown, FALLBACK, scores.state).astype(np.uint8))
