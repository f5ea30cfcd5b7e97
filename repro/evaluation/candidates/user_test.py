"""The user's own test items as candidates (UT): T_u = R_test(u)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, RowArray
from repro.evaluation.candidates.candidates import Candidates, plan_lists
from repro.evaluation.candidates.ragged import Ragged, spread
from repro.evaluation.candidates.relevance import Judgements
from repro.protocol import Protocol


class UserTestItems(Candidates):
    """Each list has the user's own test items; nothing is excluded."""

    def __init__(self, judgements: Judgements, protocol: Protocol) -> None:
        super().__init__(np.unique(judgements.items), judgements, plan_lists(judgements, protocol), protocol)

    def _columns(self, numbers: RowArray, users: CodeArray, rows: npt.NDArray[np.int32]) -> tuple[bool, Ragged]:
        positions, offsets = spread(self._judgements.offsets, self._lists.users[numbers])
        return True, Ragged(offsets, self._judged_columns[positions])

    def impacts(self) -> list[Impact]:
        """Effects: lists with relevant items only, for which every order is perfect."""
        starts = self._judgements.offsets[self.users]
        certain = int(np.logical_and.reduceat(self._judgements.relevant, starts).sum()) if self.n_lists else 0
        value = self._protocol["candidates.base"]
        note = "hold relevant items only; every order of them is perfect"
        return [Impact("candidates.base", value, certain, self.n_lists, "lists", note)]
