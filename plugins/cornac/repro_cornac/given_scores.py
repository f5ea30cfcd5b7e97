"""A model of Cornac's own base class with given scores. Imported only where Cornac is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
from cornac.exception import ScoreException
from cornac.models import Recommender

from repro.data.interactions import FloatArray
from repro.plugin import Case


class GivenScores(Recommender):
    """Has the scores of a case for every user and the items of the training rows. As its base class requires, it has
    none for other items: Cornac decides what these get."""

    def __init__(self, case: Case) -> None:
        super().__init__(name="given")
        self._case = case

    def fit(self, train_set: Any, val_set: Any = None) -> GivenScores:
        super().fit(train_set, val_set)
        users = self._case.test.user_codes(list(self.uid_map))
        items = self._case.test.item_codes(list(self.iid_map))
        self._known = self._case.scores.values[np.ix_(users, items[: self.num_items])]
        return self

    def score(self, user_idx: int, item_idx: int | None = None) -> FloatArray | float:
        if item_idx is None:
            row: FloatArray = self._known[user_idx]
            return row
        if self.is_unknown_item(item_idx):
            raise ScoreException(f"item {item_idx} has no training rows")
        return float(self._known[user_idx, item_idx])
