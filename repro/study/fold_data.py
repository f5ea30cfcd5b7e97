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
    """The rows of a fold in canonical order or, depending on ``data.order``, in that of the source or the splitter."""
    whole, tune = plan.interactions, plan.study.tune
    in_splitter_order = fold.splitter_rows if plan.study.protocol["data.order"] == "splitter" else None
    train, test = in_splitter_order or (fold.train, fold.test)
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
    """The fold as tuning sees it: validation rows take the place of test rows.

    Users and items that only the test part has are removed too: the whole is training and validation.
    """
    assert fold.validation is not None
    seen = _without_test(fold)
    selected = plan.interactions.select(seen)
    whole = selected.compact()
    train = whole.select(np.searchsorted(seen, fold.train))
    has_rows = selected.item_counts() > 0
    removed = plan.split.removed_items
    return FoldData(
        whole,
        _part(plan, train),
        _part(plan, whole.select(np.searchsorted(seen, fold.validation))),
        None,
        (np.cumsum(has_rows, dtype=np.int32) - 1)[removed[has_rows[removed]]].astype(np.int32),
        None if plan.features is None else plan.features.of_items(whole.item_ids),
    )


def _without_test(fold: Fold) -> npt.NDArray[np.int64]:
    """The rows of training and validation, ascending."""
    assert fold.validation is not None
    return np.union1d(fold.train, fold.validation)


def _part(plan: Plan, rows: Interactions) -> Interactions:
    return rows.canonical() if plan.study.protocol["data.order"] == "canonical" else rows
