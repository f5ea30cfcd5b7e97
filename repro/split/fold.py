"""What a split gives: folds of row numbers, and what the split's decisions touched."""

from __future__ import annotations

from dataclasses import dataclass, field

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, Interactions, RowArray


@dataclass(frozen=True, eq=False)
class Fold:
    """One training and test part of a data set, as ascending row numbers of its interactions.

    ``given`` are the training and the test rows in the order in which a framework's own splitter gave them.
    """

    name: str
    train: RowArray
    test: RowArray
    validation: RowArray | None = None
    given: tuple[RowArray, RowArray] | None = None


@dataclass(frozen=True, eq=False)
class Split:
    """A data set and its folds.

    interactions   the rows that the folds' row numbers are about
    folds          one or more training and test parts
    removed_items  the head items taken out of the test and of the candidates (ascending codes)
    target_items   the target set T of UAR and U1R (ascending codes); None in other strategies
    impacts        what each decision of the split touched
    rated          whether held-out rows have ratings where training rows have them; without, theirs are 1
    """

    interactions: Interactions
    folds: tuple[Fold, ...]
    removed_items: CodeArray
    target_items: CodeArray | None = None
    impacts: list[Impact] = field(default_factory=list)
    rated: bool = True
