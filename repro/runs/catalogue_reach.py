"""Catalogue coverage and novelty of the lists that a run stored, for runs whose study did not measure them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from repro.data.interactions import FloatArray, Interactions
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.novelty import self_information
from repro.runs.lists import StoredLists, codes, list_numbers


@dataclass(frozen=True)
class Reach:
    """Means over folds: the share of all items in any list, and the mean self-information of lists in bits (None if
    the training parts are unknown)."""

    coverage: float
    novelty: float | None


def catalogue_reach(lists: StoredLists, cutoff: int) -> dict[str, Reach]:
    """The reach of each algorithm of a run, from its lists down to a cut-off."""
    information, n_items = _information(lists), max(lists.run.prepared.items, 1)
    reaches = {}
    for label, cells in lists.run.cells.items():
        shares, novelties = [], []
        for fold, cell in cells.items():
            listed = lists.listed(cell)
            listed = listed.filter(pc.less_equal(listed["rank"], cutoff))
            shares.append(len(pc.unique(listed["item"])) / n_items)
            if fold in information and listed.num_rows:
                bits = information[fold][codes(listed["item"], lists.items)]
                numbers = list_numbers(listed, listed)
                novelties.append(float(np.mean(np.bincount(numbers, bits) / np.bincount(numbers))))
        novelty = float(np.mean(novelties)) if len(novelties) == len(shares) else None
        reaches[label] = Reach(float(np.mean(shares)), novelty)
    return reaches


def _information(lists: StoredLists) -> dict[str, FloatArray]:
    """The self-information of each item on each fold; empty if the training parts are unknown.

    A run folder has no training parts. If each row is held out once, as in k-fold splits, the training part of a fold
    consists of the test parts of all other folds.
    """
    folds, rows = lists.run.folds, lists.run.prepared.rows
    complete = all(fold.train_rows + fold.test_rows == rows for fold in folds)
    if len(folds) < 2 or not complete or sum(fold.test_rows for fold in folds) != rows:
        return {}
    test_parts = lists.tests
    pairs = np.concatenate([test.users.astype(np.int64) * test.n_items + test.items for test in test_parts.values()])
    if len(np.unique(pairs)) < len(pairs):
        return {}
    return {
        fold: _bits(test, [part for name, part in test_parts.items() if name != fold])
        for fold, test in test_parts.items()
    }


def _bits(test: Interactions, training_parts: list[Interactions]) -> FloatArray:
    """The self-information of each item in the union of training parts."""
    train = Interactions(
        np.concatenate([part.users for part in training_parts]),
        np.concatenate([part.items for part in training_parts]),
        np.concatenate([part.ratings for part in training_parts]),
        None,
        test.user_ids,
        test.item_ids,
        explicit=test.explicit,
    )
    return self_information(Background(test, np.arange(test.n_items, dtype=np.int32), train))
