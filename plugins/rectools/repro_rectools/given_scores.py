"""A model of RecTools' own base class whose scores are given: its own ranking and filter of viewed items run."""

from __future__ import annotations

from typing import Any

import numpy as np
from rectools.models.rank import Distance  # type: ignore[import-not-found, unused-ignore]
from rectools.models.vector import Factors, VectorModel  # type: ignore[import-not-found, unused-ignore]

from repro.data.interactions import FloatArray
from repro.plugin import Case


class GivenScores(VectorModel):
    """The vector of a user has the user's scores, and that of an item a 1 in the item's place."""

    u2i_dist = Distance.DOT

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.recommend_n_threads = 1
        self.recommend_use_gpu_ranking = False
        self._case = case

    def _fit(self, dataset: Any) -> None:
        """There is nothing to learn."""

    def _get_users_factors(self, dataset: Any) -> Any:
        users = codes_of(dataset.user_id_map, self._case.test.user_ids)
        items = codes_of(dataset.item_id_map, self._case.test.item_ids)
        return Factors(self._case.scores.values[np.ix_(users, items)].view(TimesIdentity))

    def _get_items_factors(self, dataset: Any) -> Any:
        return Factors(np.eye(dataset.item_id_map.size))


class TimesIdentity(np.ndarray):
    """A matrix that knows its product with the identity. Added up, a single NaN or infinity would make a whole row of
    NaN, as 0 times either is NaN."""

    def dot(self, other: Any, out: Any = None) -> FloatArray:  # type: ignore[override]
        return np.array(self)


def codes_of(id_map: Any, ids: Any) -> list[int]:
    """The codes of RecTools' inner ids, in their order."""
    codes = {one: code for code, one in enumerate(ids.tolist())}
    return [codes[one] for one in id_map.external_ids.tolist()]
