"""A model of RecTools' own base class with given scores: its own ranking and filter of viewed items run."""

from __future__ import annotations

from typing import Any

import numpy as np
from rectools.models.rank import Distance  # type: ignore[import-not-found, unused-ignore]
from rectools.models.vector import Factors, VectorModel  # type: ignore[import-not-found, unused-ignore]

from repro.plugin import Case
from repro.plugin.api.adapting import TimesIdentity


class GivenScores(VectorModel):
    """The vector of a user has the user's scores; that of an item has a 1 at the item's position."""

    u2i_dist = Distance.DOT

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.recommend_n_threads = 1
        self.recommend_use_gpu_ranking = False
        self._case = case

    def _fit(self, dataset: Any) -> None:
        """There is nothing to learn."""

    def _get_users_factors(self, dataset: Any) -> Any:
        users = self._case.test.user_codes(dataset.user_id_map.external_ids.tolist())
        items = self._case.test.item_codes(dataset.item_id_map.external_ids.tolist())
        return Factors(self._case.scores.values[np.ix_(users, items)].view(TimesIdentity))

    def _get_items_factors(self, dataset: Any) -> Any:
        return Factors(np.eye(dataset.item_id_map.size))
