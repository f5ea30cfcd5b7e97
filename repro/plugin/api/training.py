"""Training data: interactions, with sessions and with columns about users and items where these are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy.typing as npt

from repro.data.interactions import CodeArray, Interactions

Columns = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class TrainingData(Interactions):
    """The training data of an algorithm; a pair of user and item may have several rows.

    sessions      the session of each row, or None where there are no sessions
    user_columns  by name, a value for each user
    item_columns  by name, a value for each item
    """

    sessions: CodeArray | None = None
    user_columns: Columns = field(default_factory=dict)
    item_columns: Columns = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Interactions) -> TrainingData:
        """Interactions as training data: nothing more is known of them."""
        if isinstance(rows, TrainingData):
            return rows
        return cls(**{column.name: getattr(rows, column.name) for column in fields(Interactions) if column.init})

    def select(self, rows: npt.NDArray[Any]) -> TrainingData:
        selected = super().select(rows)
        assert isinstance(selected, TrainingData)
        return replace(selected, sessions=None if self.sessions is None else self.sessions[rows])

    def compact(self) -> TrainingData:
        has_user, has_item = self.user_counts() > 0, self.item_counts() > 0
        compact = super().compact()
        assert isinstance(compact, TrainingData)
        return replace(
            compact,
            user_columns={name: values[has_user] for name, values in self.user_columns.items()},
            item_columns={name: values[has_item] for name, values in self.item_columns.items()},
        )
