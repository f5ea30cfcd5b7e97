"""Cornac's own splitters, run by Cornac's own classes.

Cornac also leaves out test rows of users and items without training rows (``exclude_unknowns``); here that is a
decision of the protocol (``split.unseen_users`` and ``split.unseen_items``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import Interactions
from repro.plugin import Parameter, Splitter

Positions = npt.NDArray[np.int64]
Fold = tuple[Positions, Positions]


def ratio_split(rows: Interactions, seed: int, *, test_size: float, val_size: float) -> list[Fold]:
    """The fold of ``cornac.eval_methods.RatioSplit``; rows that it holds out for validation are in neither part."""
    from cornac.eval_methods import RatioSplit

    recorded, folds = _recorded(RatioSplit)
    recorded(np.arange(len(rows)), test_size=test_size, val_size=val_size, seed=seed)
    return folds


def cross_validation(rows: Interactions, seed: int, *, n_folds: int) -> list[Fold]:
    """The folds of ``cornac.eval_methods.CrossValidation``, in its order."""
    from cornac.eval_methods import CrossValidation

    recorded, folds = _recorded(CrossValidation)
    method = recorded(np.arange(len(rows)), n_folds=n_folds, seed=seed)
    for _ in range(n_folds):
        method._get_train_test()
        method._next_fold()
    return folds


def _recorded(method: Any) -> tuple[Any, list[Fold]]:
    """A subclass of an evaluation method that splits positions of rows, and the list to which it adds its folds."""
    folds: list[Fold] = []

    class Recorded(method):
        def build(self, train_data: Positions, test_data: Positions, val_data: Positions | None = None) -> None:
            """Record a fold; the method itself would build data sets of its rows."""
            folds.append((train_data, test_data))

    return Recorded, folds


SPLITTERS = (
    Splitter(
        "cornac/RatioSplit",
        "a share of all rows drawn at random, as Cornac draws them",
        ratio_split,
        (
            Parameter("test_size", 0.2, "share of the rows held out for testing, or their number if above 1"),
            Parameter("val_size", 0.0, "share of the rows left out for validation, or their number if above 1"),
        ),
    ),
    Splitter(
        "cornac/CrossValidation",
        "rows dealt into folds at random, as Cornac deals them",
        cross_validation,
        (Parameter("n_folds", 5, "number of folds"),),
        own_order=False,
    ),
)
