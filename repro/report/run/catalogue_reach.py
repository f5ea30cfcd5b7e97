"""How much of the catalogue an algorithm shows, and how well known that is: as measured, or from stored lists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow.compute as pc

from repro.data.interactions import FloatArray, Interactions
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.novelty import self_information
from repro.runs.lists import StoredLists, codes, list_numbers

CUTOFF = 10  # where no metric of the study has one


@dataclass(frozen=True)
class Reach:
    """Means over folds: the share of all items that anybody is shown, and the novelty of lists in bits, the mean of
    log2(training users / users who have the item); None where that is not known."""

    coverage: float
    novelty: float | None


class Counter:
    """Counts what lists show down to a cut-off."""

    def __init__(self, stored: StoredLists, cutoff: int) -> None:
        self._stored = stored
        self._cutoff = cutoff

    def of(self, label: str) -> Reach:
        """The reach of an algorithm."""
        shares, novelties = [], []
        n_items = self._stored.run.journal.events("data.prepared")[0].items
        for fold, cell in self._stored.run.cells[label].items():
            listed = self._stored.listed(cell)
            listed = listed.filter(pc.less_equal(listed["rank"], self._cutoff))
            shares.append(len(pc.unique(listed["item"])) / max(n_items, 1))
            if fold in self._information and listed.num_rows:
                bits = self._information[fold][codes(listed["item"], self._stored.items)]
                numbers = list_numbers(listed, listed)
                novelties.append(float(np.mean(np.bincount(numbers, bits) / np.bincount(numbers))))
        is_known = len(novelties) == len(shares)
        return Reach(float(np.mean(shares)), float(np.mean(novelties)) if is_known else None)

    @cached_property
    def _information(self) -> dict[str, FloatArray]:
        """The self-information of each item on each fold; empty where training parts are not known.

        A run folder has no training parts. Where each row is held out once, as in k-fold splits, the training part of
        a fold is the test parts of all others.
        """
        folds = self._stored.run.journal.events("fold.made")
        rows = self._stored.run.journal.events("data.prepared")[0].rows
        halved = all(fold.train_rows + fold.test_rows == rows for fold in folds)
        if len(folds) < 2 or not halved or sum(fold.test_rows for fold in folds) != rows:
            return {}
        tests = self._stored.tests
        if not _partition(list(tests.values())):
            return {}
        return {
            fold: _bits(test, [other for name, other in tests.items() if name != fold]) for fold, test in tests.items()
        }


def _partition(parts: list[Interactions]) -> bool:
    """Whether no pair of user and item is there twice."""
    pairs = np.concatenate([part.users.astype(np.int64) * part.n_items + part.items for part in parts])
    return len(np.unique(pairs)) == len(pairs)


def _bits(test: Interactions, others: list[Interactions]) -> FloatArray:
    train = Interactions(
        np.concatenate([part.users for part in others]),
        np.concatenate([part.items for part in others]),
        np.concatenate([part.ratings for part in others]),
        None,
        test.user_ids,
        test.item_ids,
        explicit=test.explicit,
    )
    return self_information(Background(test, np.arange(test.n_items, dtype=np.int32), train))
