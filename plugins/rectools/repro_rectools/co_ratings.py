"""Distances between items by the users who have them, for RecTools' diversity, which needs a distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from rectools.metrics import PairwiseDistanceCalculator  # type: ignore[import-not-found, unused-ignore]

from repro.data.interactions import FloatArray, Interactions


class CoRatings(PairwiseDistanceCalculator):
    """1 - cosine of the users who have each item in training; 1 for an item without training rows."""

    def __init__(self, train: Interactions) -> None:
        has = np.zeros((train.n_users, train.n_items))
        has[train.users, train.items] = 1
        norms = np.sqrt(has.sum(axis=0))
        norms[norms == 0] = 1
        self._distances = 1 - (has.T @ has) / np.outer(norms, norms)
        self._train = train

    def _get_distances_for_item_pairs(self, items_0: Any, items_1: Any) -> FloatArray:
        first, second = (self._train.item_codes(list(items)) for items in (items_0, items_1))
        distances: FloatArray = self._distances[first, second]
        return distances
