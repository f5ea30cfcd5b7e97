"""The parts of one fold, as the rooms downstream want them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from repro.data import Interactions
from repro.data.interactions import CodeArray
from repro.split import Fold

if TYPE_CHECKING:
    from repro.study.plan import Plan


@dataclass(frozen=True, eq=False)
class FoldParts:
    """Training, validation and test rows of a fold, the whole they come from, and features of its items.

    ``joined`` are training and validation rows together, where algorithms are fitted on both.
    """

    whole: Interactions
    train: Interactions
    test: Interactions
    validation: Interactions | None
    removed_items: CodeArray
    features: csr_array | None = None
    joined: Interactions | None = None

    @property
    def fitted(self) -> Interactions:
        """What algorithms are fitted on."""
        return self.train if self.joined is None else self.joined

    @classmethod
    def of(cls, plan: Plan, fold: Fold) -> FoldParts:
        """Rows in canonical order, or, where ``data.order`` asks for it, in that of the source (or the splitter)."""
        whole, tune = plan.interactions, plan.study.tune
        own = fold.given if plan.study.protocol["data.order"] == "splitter" else None
        train, test = own or (fold.train, fold.test)
        together = tune is not None and tune.refit == "train+validation"
        return cls(
            whole,
            _part(plan, whole.select(train)),
            _part(plan, whole.select(test)),
            None if fold.validation is None else _part(plan, whole.select(fold.validation)),
            plan.split.removed_items,
            None if plan.features is None else plan.features.of_items(whole.item_ids),
            _part(plan, whole.select(_without_test(fold))) if together else None,
        )

    @classmethod
    def of_validation(cls, plan: Plan, fold: Fold) -> FoldParts:
        """The fold as tuning sees it: the validation rows are what is tested, and of the test part there is nothing.

        Users and items that only the test part has are not there either: the whole is training and validation.
        """
        assert fold.validation is not None
        seen = _without_test(fold)
        selected = plan.interactions.select(seen)
        whole = selected.compact()
        train = whole.select(np.searchsorted(seen, fold.train))
        there = selected.item_counts() > 0
        removed = plan.split.removed_items
        return cls(
            whole,
            _part(plan, train),
            _part(plan, whole.select(np.searchsorted(seen, fold.validation))),
            None,
            (np.cumsum(there, dtype=np.int32) - 1)[removed[there[removed]]].astype(np.int32),
            None if plan.features is None else plan.features.of_items(whole.item_ids),
        )


def _without_test(fold: Fold) -> npt.NDArray[np.int64]:
    """The rows of training and validation, ascending."""
    assert fold.validation is not None
    return np.union1d(fold.train, fold.validation)


def _part(plan: Plan, rows: Interactions) -> Interactions:
    return rows.canonical() if plan.study.protocol["data.order"] == "canonical" else rows
