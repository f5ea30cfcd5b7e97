"""The rows of the folds of a study, for fitting, tuning and testing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from repro.data import Interactions
from repro.evaluation.fold import FoldData
from repro.split import Fold

if TYPE_CHECKING:
    from repro.study.plan import Plan


def fold_data(plan: Plan, fold: Fold) -> FoldData:
    """The rows of a fold in canonical order, or, where ``data.order`` asks for it, in that of the source or the
    splitter."""
    whole, tune = plan.interactions, plan.study.tune
    own = fold.splitter_rows if plan.study.protocol["data.order"] == "splitter" else None
    train, test = own or (fold.train, fold.test)
    together = tune is not None and tune.refit == "train+validation"
    return FoldData(
        whole,
        _part(plan, whole.select(train)),
        _part(plan, whole.select(test)),
        None if fold.validation is None else _part(plan, whole.select(fold.validation)),
        plan.split.removed_items,
        None if plan.features is None else plan.features.of_items(whole.item_ids),
        _part(plan, whole.select(_without_test(fold))) if together else None,
    )


def validation_data(plan: Plan, fold: Fold) -> FoldData:
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
    return FoldData(
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
