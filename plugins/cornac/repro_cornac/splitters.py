"""Cornac's own ways to hold out rows, run by Cornac's own classes.

Cornac also leaves test rows of users and items out that have no training rows (``exclude_unknowns``); here that is a
decision of the protocol (``split.unseen_users`` and ``split.unseen_items``).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.data.interactions import Interactions
from repro.plugin import Parameter, Splitter

Positions = npt.NDArray[np.int64]
Fold = tuple[Positions, Positions]


def ratio_split(rows: Interactions, seed: int, *, test_size: float, val_size: float) -> list[Fold]:
    """The fold of ``cornac.eval_methods.RatioSplit``; rows that it sets apart for validation are in neither part."""
    from cornac.eval_methods import RatioSplit

    folds: list[Fold] = []

    class Recorded(RatioSplit):
        """Splits positions, and keeps them in place of the data sets it would build of the rows."""

        def build(self, train_data: Positions, test_data: Positions, val_data: Positions | None = None) -> None:
            folds.append((train_data, test_data))

    Recorded(np.arange(len(rows)), test_size=test_size, val_size=val_size, seed=seed)
    return folds


def cross_validation(rows: Interactions, seed: int, *, n_folds: int) -> list[Fold]:
    """The folds of ``cornac.eval_methods.CrossValidation``, in its order."""
    from cornac.eval_methods import CrossValidation

    folds: list[Fold] = []

    class Recorded(CrossValidation):
        """Splits positions, and keeps them in place of the data sets it would build of the rows."""

        def build(self, train_data: Positions, test_data: Positions, val_data: Positions | None = None) -> None:
            folds.append((train_data, test_data))

    method = Recorded(np.arange(len(rows)), n_folds=n_folds, seed=seed)
    for _ in range(n_folds):
        method._get_train_test()
        method._next_fold()
    return folds


def splitters() -> tuple[Splitter, ...]:
    """Both splitters, with Cornac's defaults."""
    return (
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
