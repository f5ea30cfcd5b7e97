"""How far items are apart by the users who have them, for RecTools' diversity, which has no such distance itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from rectools.metrics import PairwiseDistanceCalculator  # type: ignore[import-not-found, unused-ignore]

from repro.data.interactions import FloatArray, Interactions


class CoRatings(PairwiseDistanceCalculator):
    """1 - cosine of what users have each item in training; 1 where an item is nobody's."""

    def __init__(self, train: Interactions) -> None:
        has = np.zeros((train.n_users, train.n_items))
        has[train.users, train.items] = 1
        norms = np.sqrt(has.sum(axis=0))
        norms[norms == 0] = 1
        self._distances = 1 - (has.T @ has) / np.outer(norms, norms)
        self._codes = {one: code for code, one in enumerate(train.item_ids.tolist())}

    def _get_distances_for_item_pairs(self, items_0: Any, items_1: Any) -> FloatArray:
        first, second = ([self._codes[one] for one in items] for items in (items_0, items_1))
        distances: FloatArray = self._distances[first, second]
        return distances
