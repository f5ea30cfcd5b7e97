"""Counts of the effects of ranking rules, which add up over blocks of lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.evaluation.ranking.kernels import (
    N_CLIPPED,
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

# The decision about each kind of score, and a note for its effect.
_DECISIONS = {
    N_MISSING: ("missing.rank", "had no score that counts"),
    N_FALLBACK: ("missing.fallback", "were fallback scores of the framework"),
    N_ZERO: ("missing.zero", "were zero"),
    N_INFINITE: ("missing.infinite", "were infinite"),
    N_CLIPPED: ("scores.clip", "were clipped"),
    N_ROUNDED: ("ties.precision", "were rounded"),
}


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of some lists; ``+`` adds those of others. The lists of a user must be counted together.

    candidates        the number of scores of all candidates, including those that are dropped
    scores, lists_with, users_with   for each kind (``kernels.N_MISSING`` and so on): the number of scores, and of lists
                      and users with at least one
    lists_tied, users_tied           for each cut-off: how many have equal scores on both sides of it
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
        """The tally of no lists."""
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
        """The tally from the user of each list, its counts, and the cut-offs that its ties straddle."""
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
        counts = (count.name for count in fields(self) if count.name != "cutoffs")
        return Tally(self.cutoffs, **{name: getattr(self, name) + getattr(other, name) for name in counts})

    @property
    def unscored(self) -> int:
        """The number of candidates that the algorithm did not score, whatever the protocol."""
        return int(self.scores[N_UNSCORED])

    @property
    def fallback(self) -> int:
        """The number of candidates with fallback scores of the framework, whatever the protocol."""
        return int(self.scores[N_FALLBACK])

    @property
    def constant_lists(self) -> int:
        """The number of lists of several items that all have the same score."""
        return int(self.lists_with[N_CONSTANT])

    def impacts(self, protocol: Protocol) -> list[Impact]:
        """The effects of the decisions ``missing.*``, ``scores.*`` and ``ties.*``."""
        impacts: list[Impact] = []
        for count, (decision, note) in _DECISIONS.items():
            value = protocol[decision]
            if (count == N_ROUNDED and value == "double") or (count == N_CLIPPED and value == "none"):
                continue
            if value == "missing-or-below":
                note += " or below"
            impacts.append(Impact(decision, value, int(self.scores[count]), self.candidates, "scores", note))
            if count == N_MISSING:
                note = "had a candidate without a score that counts"
                impacts += self._of_lists(decision, protocol, self.lists_with[count], self.users_with[count], note)
        for index, cutoff in enumerate(self.cutoffs):
            note = f"had a tie across rank {cutoff}"
            lists, users = self.lists_tied[index], self.users_tied[index]
            impacts += self._of_lists("ties.break", protocol, lists, users, note)
        return impacts

    def _of_lists(self, decision: str, protocol: Protocol, lists: int, users: int, note: str) -> list[Impact]:
        """The effects on users, and on lists if users have several."""
        of_users = Impact(decision, protocol[decision], int(users), self.users, "users", note)
        of_lists = Impact(decision, protocol[decision], int(lists), self.lists, "lists", note)
        return [of_users] if self.lists == self.users else [of_users, of_lists]


def _any_of_user(users: npt.NDArray[np.int32], lists: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """From a mask of lists to a mask of users: whether any list of the user has it."""
    if (np.diff(users) > 0).all():
        return lists
    distinct, index = np.unique(users, return_inverse=True)
    any_list = np.zeros((len(distinct), lists.shape[1]), dtype=bool)
    np.logical_or.at(any_list, index, lists)
    return any_list
