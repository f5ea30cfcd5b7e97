"""The rows of the folds of a study, for fitting, tuning and testing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from repro.data import Interactions
from repro.data.binarise import binarised, is_binarised
from repro.evaluation.fold import FoldData
from repro.protocol import Protocol
from repro.split import Fold

if TYPE_CHECKING:
    from repro.study.plan import Plan


def fold_data(plan: Plan, fold: Fold) -> FoldData:
    """The rows of a fold in canonical order or, depending on ``data.order``, in that of the source or the splitter."""
    whole, fitted_on = plan.interactions, plan.study.protocol["split.fitted_on"]
    train, test = (_is_in_given_order(plan.study.protocol) and fold.given_rows) or (fold.train, fold.test)
    held_out = () if fold.validation is None else (fold.validation,)
    joined = {"train": None, "train+validation": (train, *held_out), "all": (train, *held_out, test)}[str(fitted_on)]
    training = _part(plan, whole.select(train))
    return FoldData(
        whole,
        training,
        _part(plan, whole.select(test)),
        None if fold.validation is None else _part(plan, whole.select(fold.validation)),
        plan.split.removed_items,
        None if plan.features is None else plan.features.of_items(whole.item_ids),
        _to_fit(plan, training if joined is None else _part(plan, whole.select(_joined(plan, joined)))),
        plan.scale,
        fold=fold.name,
    )


def _to_fit(plan: Plan, rows: Interactions) -> Interactions:
    """The rows that algorithms are fitted on: with binary ratings, where the protocol has these for training alone."""
    protocol = plan.study.protocol
    return binarised(rows, protocol) if is_binarised(protocol, "training") else rows


def _joined(plan: Plan, parts: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """The rows of several parts: in the order of the splitter or the files if these are seen, and else ascending."""
    rows = np.concatenate(parts)
    return rows if _is_in_given_order(plan.study.protocol) else np.unique(rows)


def _is_in_given_order(protocol: Protocol) -> bool:
    """Whether rows come in the order in which a framework's splitter, or a file of the fold, has them."""
    order = protocol["data.order"]
    return order == "splitter" or (order == "source" and protocol["split.strategy"] == "files")


def trial_data(plan: Plan, fold: Fold) -> FoldData:
    """The fold as the trials of tuning see it: without its test rows, unless parameters are chosen on these."""
    return fold_data(plan, fold) if plan.study.protocol["split.tuned_on"] == "test" else validation_data(plan, fold)


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
        _to_fit(plan, _part(plan, train)),
        plan.scale,
        fold=fold.name,
    )


def _without_test(fold: Fold) -> npt.NDArray[np.int64]:
    """The rows of training and validation, ascending."""
    assert fold.validation is not None
    return np.union1d(fold.train, fold.validation)


def _part(plan: Plan, rows: Interactions) -> Interactions:
    return rows.canonical() if plan.study.protocol["data.order"] == "canonical" else rows
