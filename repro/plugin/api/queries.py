"""Queries: the users that items are scored for, and the history that is known at that moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, Interactions, RowArray
from repro.errors import PluginError


class History:
    """The known rows of all users; an index by user is made when the first history is read."""

    def __init__(self, rows: Interactions | None, why_not: str = "no history is known") -> None:
        self._rows = rows
        self._why_not = why_not

    @classmethod
    def withheld(cls, algorithm: str) -> History:
        """The history of an algorithm that does not declare to use it: reading it is an error."""
        return cls(None, f"{algorithm} reads the history of queries; declare uses_history=True in its Algorithm")

    @property
    def rows(self) -> Interactions:
        """All known rows, of all users."""
        if self._rows is None:
            raise PluginError(self._why_not)
        return self._rows

    @property
    def is_known(self) -> bool:
        """Whether there are known rows."""
        return self._rows is not None

    def is_of(self, rows: Interactions | None) -> bool:
        """Whether the known rows are this object."""
        return rows is not None and self._rows is rows

    def positions(self, users: npt.NDArray[Any]) -> tuple[RowArray, RowArray]:
        """The rows of each user in order, end to end, as positions in ``rows``; and where each user's begin.

        The rows of user n are ``positions[starts[n] : starts[n + 1]]``: ascending by timestamp where there are
        timestamps, and rows of the same time in their order.
        """
        order, bounds = self._by_user
        lengths = bounds[users + 1] - bounds[users]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        steps = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        return order[np.repeat(bounds[users], lengths) + steps], starts

    @cached_property
    def _by_user(self) -> tuple[RowArray, RowArray]:
        rows = self.rows
        keys = (rows.users,) if rows.timestamps is None else (rows.timestamps, rows.users)
        return np.lexsort(keys), np.concatenate([[0], np.cumsum(rows.user_counts())])


@dataclass(frozen=True)
class Query:
    """A request for one list: the user, the user's known rows in order, and the time of the request.

    ``session`` and ``moment`` (seconds since 1970) are None where they are unknown.
    """

    user: int
    history: Interactions
    session: int | None = None
    moment: int | None = None


@dataclass(frozen=True, eq=False)
class Queries:
    """A batch of queries, as arrays.

    users     the user of each query
    history   the known rows of all users; today the training rows
    sessions  the session of each query, or None where there are no sessions
    moments   the time of each request, in seconds since 1970, or None where it is unknown
    """

    users: CodeArray
    history: History
    sessions: CodeArray | None = None
    moments: npt.NDArray[np.int64] | None = None

    @classmethod
    def of(cls, rows: Interactions, users: npt.ArrayLike | None = None) -> Queries:
        """Queries of these users, of all users by default, whose history is in ``rows``."""
        codes = np.arange(rows.n_users) if users is None else np.asarray(users)
        return cls(codes.astype(np.int32), History(rows))

    def __len__(self) -> int:
        return len(self.users)

    def __getitem__(self, number: int) -> Query:
        return Query(
            int(self.users[number]),
            self.history.rows.select(self.history.positions(self.users[[number]])[0]),
            None if self.sessions is None else int(self.sessions[number]),
            None if self.moments is None else int(self.moments[number]),
        )

    def __iter__(self) -> Iterator[Query]:
        return map(self.__getitem__, range(len(self)))

    def part(self, start: int, end: int) -> Queries:
        """The queries from ``start`` to before ``end``, with the same history."""
        return Queries(
            self.users[start:end],
            self.history,
            None if self.sessions is None else self.sessions[start:end],
            None if self.moments is None else self.moments[start:end],
        )

    def known_items(self) -> tuple[CodeArray, RowArray]:
        """The items in the history of each query, in order and end to end, and where those of each query begin."""
        positions, starts = self.history.positions(self.users)
        return self.history.rows.items[positions], starts
