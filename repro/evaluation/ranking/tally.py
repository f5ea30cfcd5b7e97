"""What the rules of ranking touched, counted so that blocks of lists add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.evaluation.ranking.kernels import (
    N_CONSTANT,
    N_COUNTS,
    N_FALLBACK,
    N_INFINITE,
    N_MISSING,
    N_ROUNDED,
    N_UNSCORED,
    N_ZERO,
)
from repro.protocol import Protocol

Counts = npt.NDArray[np.int64]

_NOTES = {
    N_MISSING: "had no score that counts",
    N_FALLBACK: "were made up by the framework",
    N_ZERO: "were zero",
    N_INFINITE: "were infinite",
    N_ROUNDED: "were rounded",
}
_DECISIONS = {
    N_MISSING: "missing.rank",
    N_FALLBACK: "missing.fallback",
    N_ZERO: "missing.zero",
    N_INFINITE: "missing.infinite",
    N_ROUNDED: "ties.precision",
}


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of some lists; ``+`` adds those of others. A user's lists must be counted together.

    candidates        the scores of all candidates, those that are then dropped included
    scores, lists_with, users_with   by what is counted (``kernels.N_MISSING`` and so on): how many scores,
                      and how many lists and users with at least one
    lists_tied, users_tied           by cut-off: how many have equal scores on both sides of it
    """

    cutoffs: tuple[int, ...]
    users: int
    lists: int
    candidates: int
    scores: Counts
    lists_with: Counts
    users_with: Counts
    lists_tied: Counts
    users_tied: Counts

    @classmethod
    def none(cls, cutoffs: Sequence[int] = ()) -> Tally:
        """The tally of no lists, to start adding from."""
        no_scores, no_ties = np.zeros(N_COUNTS, np.int64), np.zeros(len(cutoffs), np.int64)
        return cls(tuple(cutoffs), 0, 0, 0, no_scores, no_scores, no_scores, no_ties, no_ties)

    @classmethod
    def of(
        cls,
        cutoffs: Sequence[int],
        users: npt.NDArray[np.int32],
        candidates: int,
        counts: Counts,
        straddled: npt.NDArray[np.uint8],
    ) -> Tally:
        """From the user of each list, its counts, and the cut-offs that its ties straddle."""
        has, tied = counts > 0, straddled > 0
        user_has, user_tied = _any_of_user(users, has), _any_of_user(users, tied)
        return cls(
            tuple(cutoffs),
            len(user_has),
            len(users),
            candidates,
            counts.sum(axis=0),
            has.sum(axis=0),
            user_has.sum(axis=0),
            tied.sum(axis=0),
            user_tied.sum(axis=0),
        )

    def __add__(self, other: Tally) -> Tally:
        if self.cutoffs != other.cutoffs:
            raise ValueError(f"tallies of different cut-offs, {self.cutoffs} and {other.cutoffs}, do not add up")
        return Tally(
            self.cutoffs,
            self.users + other.users,
            self.lists + other.lists,
            self.candidates + other.candidates,
            self.scores + other.scores,
            self.lists_with + other.lists_with,
            self.users_with + other.users_with,
            self.lists_tied + other.lists_tied,
            self.users_tied + other.users_tied,
        )

    @property
    def unscored(self) -> int:
        """Candidates the algorithm had nothing to say about, whatever the protocol makes of them."""
        return int(self.scores[N_UNSCORED])

    @property
    def fallback(self) -> int:
        """Candidates whose scores the framework made up, whatever the protocol makes of them."""
        return int(self.scores[N_FALLBACK])

    @property
    def constant_lists(self) -> int:
        """Lists of several items that all have the same score."""
        return int(self.lists_with[N_CONSTANT])

    def impacts(self, protocol: Protocol) -> list[Impact]:
        """What each decision of ``missing.*`` and ``ties.*`` touched."""
        found: list[Impact] = []
        for what, decision in _DECISIONS.items():
            value, note = protocol[decision], _NOTES[what]
            if what == N_ROUNDED and value == "double":
                continue
            if value == "missing-or-below":
                note += " or below"
            found.append(Impact(decision, value, int(self.scores[what]), self.candidates, "scores", note))
            if what == N_MISSING:
                note = "had a candidate without a score that counts"
                found += self._of_lists(
                    decision, protocol, int(self.lists_with[what]), int(self.users_with[what]), note
                )
        for at, cutoff in enumerate(self.cutoffs):
            note = f"had a tie across rank {cutoff}"
            found += self._of_lists("ties.break", protocol, int(self.lists_tied[at]), int(self.users_tied[at]), note)
        return found

    def _of_lists(self, decision: str, protocol: Protocol, lists: int, users: int, note: str) -> list[Impact]:
        """Of users, and of lists where users have several."""
        of_users = Impact(decision, protocol[decision], users, self.users, "users", note)
        of_lists = Impact(decision, protocol[decision], lists, self.lists, "lists", note)
        return [of_users] if self.lists == self.users else [of_users, of_lists]


def _any_of_user(users: npt.NDArray[np.int32], lists: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Lists by something to users by something: whether one of the user's lists has it."""
    if (np.diff(users) > 0).all():
        return lists
    found, place = np.unique(users, return_inverse=True)
    any_list = np.zeros((len(found), lists.shape[1]), dtype=bool)
    np.logical_or.at(any_list, place, lists)
    return any_list
