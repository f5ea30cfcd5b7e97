"""The parts of one fold, as the rooms downstream want them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from repro.data import Interactions
from repro.data.interactions import CodeArray
from repro.split import Fold
from repro.study.plan import Plan


@dataclass(frozen=True, eq=False)
class FoldParts:
    """Training, validation and test rows of a fold, the whole they come from, and features of its items."""

    whole: Interactions
    train: Interactions
    train_in_source_order: Interactions
    test: Interactions
    validation: Interactions | None
    removed_items: CodeArray
    features: csr_array | None = None

    @classmethod
    def of(cls, plan: Plan, fold: Fold) -> FoldParts:
        """Rows in canonical order, or, where ``data.order`` asks for it, in that of the source."""
        whole = plan.interactions

        def part(rows: npt.NDArray[np.int64]) -> Interactions:
            chosen = whole.select(rows)
            return chosen if plan.study.protocol["data.order"] == "source" else chosen.canonical()

        validation = None if fold.validation is None else part(fold.validation)
        return cls(
            whole,
            part(fold.train),
            whole.select(fold.train),
            part(fold.test),
            validation,
            plan.split.removed_items,
            None if plan.features is None else plan.features.of_items(whole.item_ids),
        )
