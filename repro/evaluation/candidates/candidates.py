"""The base class of candidates: the items that each list of a fold ranks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, Interactions, RowArray
from repro.evaluation.candidates.lists import ListBlock, Offsets, Places
from repro.evaluation.candidates.ragged import Ragged, offsets_of, spread
from repro.evaluation.candidates.relevance import Judgements
from repro.protocol import Protocol


@dataclass(frozen=True, eq=False)
class FoldRows:
    """The rows of a fold, and of the data set that it is a part of.

    ``removed_items`` are the head items that no list has (``split.head``), and ``fold`` is the name of the fold.
    """

    whole: Interactions
    train: Interactions
    test: Interactions
    validation: Interactions | None = None
    removed_items: CodeArray = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    fold: str = field(default="", kw_only=True)


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of a fold: one for each test user (AR), or one for each user and relevant item (1R).

    Lists are sorted by user and target; those of user ``u`` are ``[offsets[u], offsets[u + 1])``. ``targets`` is -1
    in AR.
    """

    users: CodeArray
    targets: CodeArray
    offsets: Offsets

    def __len__(self) -> int:
        return len(self.users)


def plan_lists(judgements: Judgements, protocol: Protocol) -> Lists:
    """The lists that ``candidates.relevant`` requires."""
    if protocol["candidates.relevant"] == "one":
        relevant = judgements.relevant == 1
        users, targets = judgements.users[relevant], judgements.items[relevant]
    else:
        users = judgements.test_users
        targets = np.full(len(users), -1, dtype=np.int32)
    return Lists(users, targets, offsets_of(np.bincount(users, minlength=len(judgements.offsets) - 1)))


class Candidates(ABC):
    """The candidates of a fold, generated for one block of users at a time.

    users    the test users that have a list, ascending; in 1R a user without relevant items has none
    items    the items to score, ascending codes: the columns of every block
    n_lists  the number of lists
    """

    def __init__(self, items: CodeArray, judgements: Judgements, lists: Lists, protocol: Protocol) -> None:
        self.items = items
        self.users: CodeArray = np.unique(lists.users)
        self.n_lists = len(lists)
        self._judgements = judgements
        self._lists = lists
        self._protocol = protocol
        self._judged_columns = column_numbers(items, judgements.items)

    def block(self, users: CodeArray) -> ListBlock:
        """The lists of these users; they do not depend on the other users of the block."""
        users = np.unique(users).astype(np.int32)
        numbers, offsets = spread(self._lists.offsets, users)
        rows = np.repeat(np.arange(len(users), dtype=np.int32), np.diff(offsets))
        listed, columns = self._columns(numbers, users, rows)
        judged, judged_offsets = self._judged(numbers)
        return ListBlock(
            users=users,
            items=self.items,
            rows=rows,
            targets=self._lists.targets[numbers],
            strata=self._strata(numbers),
            listed=listed,
            offsets=columns.offsets,
            columns=columns.values,
            judged_offsets=judged_offsets,
            judged_items=self._judgements.items[judged],
            judged_columns=self._judged_columns[judged],
            judged_relevant=self._judgements.relevant[judged],
            judged_grades=self._judgements.grades[judged],
            places=self._places(numbers, columns),
        )

    @abstractmethod
    def impacts(self) -> list[Impact]:
        """The effects of the ``candidates`` decisions on all lists of the fold."""

    @abstractmethod
    def _columns(self, numbers: RowArray, users: CodeArray, rows: npt.NDArray[np.int32]) -> tuple[bool, Ragged]:
        """For the lists with these numbers: whether columns are the candidates, and the columns of each list.

        ``users`` are the users of the block, and ``rows`` is the position of each list's user among them.
        """

    def _places(self, numbers: RowArray, columns: Ragged) -> Places:
        """For the columns of these lists, keys of an order that the lists bring along; empty where there is none."""
        return np.empty(0, dtype=np.int64)

    def _strata(self, numbers: RowArray) -> npt.NDArray[np.int32]:
        return np.zeros(len(numbers), dtype=np.int32)

    def _judged(self, numbers: RowArray) -> tuple[RowArray, Offsets]:
        """The positions of the judgements of each list."""
        targets = self._lists.targets[numbers] if self._one_relevant else None
        return self._judgements.of_lists(self._lists.users[numbers], targets)

    @property
    def _one_relevant(self) -> bool:
        """Whether each list has a single relevant item (1R)."""
        return self._protocol["candidates.relevant"] == "one"

    def _impact(self, decision: str, touched: int, total: int, unit: str, note: str) -> Impact:
        return Impact(decision, self._protocol[decision], touched, total, unit, note)

    def _relevant_impacts(self) -> list[Impact]:
        test_users = len(self._judgements.test_users)
        without = test_users - len(self.users)
        impact = self._impact("candidates.relevant", without, test_users, "test users", "have no list")
        return [impact] if self._one_relevant else []


class UserTestItems(Candidates):
    """The user's own test items as candidates (UT), T_u = R_test(u): nothing is excluded."""

    def __init__(self, judgements: Judgements, protocol: Protocol) -> None:
        super().__init__(np.unique(judgements.items), judgements, plan_lists(judgements, protocol), protocol)

    def _columns(self, numbers: RowArray, users: CodeArray, rows: npt.NDArray[np.int32]) -> tuple[bool, Ragged]:
        positions, offsets = spread(self._judgements.offsets, self._lists.users[numbers])
        return True, Ragged(offsets, self._judged_columns[positions])

    def impacts(self) -> list[Impact]:
        """Effects: lists with relevant items only, for which every order is perfect."""
        starts = self._judgements.offsets[self.users]
        certain = int(np.logical_and.reduceat(self._judgements.relevant, starts).sum()) if self.n_lists else 0
        note = "hold relevant items only; every order of them is perfect"
        return [self._impact("candidates.base", certain, self.n_lists, "lists", note)]


def column_numbers(items: CodeArray, requested: CodeArray) -> npt.NDArray[np.int32]:
    """The column of each requested item among the ascending ``items``; -1 if it is not among them."""
    if not len(items):
        return np.full(len(requested), -1, dtype=np.int32)
    positions = np.minimum(np.searchsorted(items, requested), len(items) - 1)
    return np.where(items[positions] == requested, positions, -1).astype(np.int32)
