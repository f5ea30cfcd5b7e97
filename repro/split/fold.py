"""What a split gives: folds of row numbers."""

from __future__ import annotations

from dataclasses import dataclass

from repro.data.interactions import RowArray


@dataclass(frozen=True, eq=False)
class Fold:
    """One training and test part of a data set, as ascending row numbers of its interactions."""

    name: str
    train: RowArray
    test: RowArray
    validation: RowArray | None = None
