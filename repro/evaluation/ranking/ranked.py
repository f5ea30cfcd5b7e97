"""What a ranking gives: for each list, the top items, and where its held-out items came."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray
from repro.evaluation.candidates.lists import Offsets

# Whose score an item is ranked by; 0 where it has none.
OWN, MADE_UP = 1, 2

Ties = Literal["definite", "expected", "best", "worst", "shared-best", "shared-mean", "shared-worst"]


@dataclass(frozen=True, eq=False)
class Ranked:
    """Ranked lists, in the order of the list block they come from.

    Metrics need only the held-out items of a list (its *hits*, relevant or not) and where they stand. For hit
    ``h``: ``above[h]`` candidates have a strictly higher score, ``tied[h]`` candidates (itself included) have
    the same one, and ``position[h]`` is its place, from 1, once ties are broken. With a tie rule that gives
    an order, ``position`` is all that counts; with "expected", "best", "worst" and the shared ranks, ``above`` and
    ``tied`` are, and ``position`` is only the order in which the list is shown.

    users      the user of each list
    strata     the stratum of each list
    depth      how far down lists were ranked; beyond it a hit is *unranked* (``position`` 0, ``above`` -1)
    items      lists by depth: item codes in order of rank, -1 beyond the end of the list
    scored     lists by depth: OWN where the algorithm scored the item, MADE_UP where the framework did in its place
               and the protocol accepts that, 0 where a missing-score rule placed it
    lengths    how many candidates each list ranks, all of them, not only down to ``depth``
    candidates how many candidates each list has, those included that a missing-score rule left out
    missing    how many of a list's candidates have no score that counts
    n_relevant how many of a list's held-out items are relevant, ranked or not
    scores     lists by depth: the score each item is ranked by, -inf (or inf) where it is last (first) for want of
               one; only where a metric asks for it
    offsets    the hits of list ``n`` are ``[offsets[n], offsets[n + 1])``: by ``position``, unranked ones last
    ideals     what ideal lists of the same held-out items are worth, by what is counted; where it is given, other
               rankings of these lists share it
    """

    users: CodeArray
    strata: npt.NDArray[np.int32]
    ties: Ties
    depth: int
    items: npt.NDArray[np.int32]
    scored: npt.NDArray[np.uint8]
    lengths: npt.NDArray[np.int32]
    candidates: npt.NDArray[np.int32]
    missing: npt.NDArray[np.int32]
    n_relevant: npt.NDArray[np.int32]
    offsets: Offsets
    hit_items: CodeArray
    relevant: npt.NDArray[np.uint8]
    grades: FloatArray
    position: npt.NDArray[np.int32]
    above: npt.NDArray[np.int32]
    tied: npt.NDArray[np.int32]
    scores: FloatArray | None = None
    ideals: dict[Hashable, FloatArray] | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.users)

    def only(self, rows: npt.NDArray[np.intp]) -> Ranked:
        """Some of the lists, in that order."""
        sizes = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        hits = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], sizes)
        return replace(
            self,
            users=self.users[rows],
            strata=self.strata[rows],
            items=self.items[rows],
            scored=self.scored[rows],
            lengths=self.lengths[rows],
            candidates=self.candidates[rows],
            missing=self.missing[rows],
            n_relevant=self.n_relevant[rows],
            offsets=offsets,
            hit_items=self.hit_items[hits],
            relevant=self.relevant[hits],
            grades=self.grades[hits],
            position=self.position[hits],
            above=self.above[hits],
            tied=self.tied[hits],
            scores=None if self.scores is None else self.scores[rows],
            ideals=None,
        )

    @cached_property
    def doubled_ranks(self) -> npt.NDArray[np.int64]:
        """Twice the rank of each hit under the tie rule, as a whole number; 0 where the hit is unranked.

        Twice, because the mean rank of two tied items at places 2 and 3 is 2.5.
        """
        above, tied = self.above.astype(np.int64), self.tied
        match self.ties:
            case "definite":
                return 2 * self.position.astype(np.int64)
            case "shared-best":
                ranks = 2 * above + 2
            case "shared-mean":
                ranks = 2 * above + tied + 1
            case "shared-worst":
                ranks = 2 * (above + tied)
            case _:
                raise AssertionError(f"hits have no single rank when ties are {self.ties}")
        return np.where(above >= 0, ranks, 0)

    @cached_property
    def relevant_gains(self) -> FloatArray:
        """What each hit is worth where only relevance counts: 1 or 0."""
        return self.relevant.astype(np.float64)

    @cached_property
    def linear_gains(self) -> FloatArray:
        """What each hit is worth where the grade counts; nothing below 0."""
        return np.maximum(self.grades, 0.0)

    @cached_property
    def exponential_gains(self) -> FloatArray:
        """What each hit is worth where 2^grade - 1 counts; nothing below 0."""
        return np.maximum(np.exp2(self.grades) - 1.0, 0.0)
