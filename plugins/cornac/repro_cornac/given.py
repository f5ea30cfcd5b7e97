"""A model of Cornac's own base class that says what it was told to. Imported where Cornac is."""

from __future__ import annotations

from typing import Any

import numpy as np
from cornac.exception import ScoreException
from cornac.models import Recommender

from repro.data.interactions import FloatArray
from repro.plugin import Case


class Given(Recommender):
    """Has the scores of a case, for every user and the items of the training rows. As its base class asks, it has
    none for other items: what these get is left to Cornac."""

    def __init__(self, case: Case) -> None:
        super().__init__(name="given")
        self._case = case

    def fit(self, train_set: Any, val_set: Any = None) -> Given:
        super().fit(train_set, val_set)
        users = codes_of(self.uid_map, self._case.test.user_ids)
        items = codes_of(self.iid_map, self._case.test.item_ids)
        self._known = self._case.scores.values[np.ix_(users, items[: self.num_items])]
        return self

    def score(self, user_idx: int, item_idx: int | None = None) -> FloatArray | float:
        if item_idx is None:
            row: FloatArray = self._known[user_idx]
            return row
        if self.is_unknown_item(item_idx):
            raise ScoreException(f"item {item_idx} has no training rows")
        return float(self._known[user_idx, item_idx])


def codes_of(inner: Any, ids: Any) -> list[int]:
    """The codes of Cornac's inner indices, in their order; ``inner`` maps ids in text to these."""
    codes = {str(one): code for code, one in enumerate(ids)}
    return [codes[one] for one in inner]
