"""Precision-recall and ROC curves by list length, from the lists that a run stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from repro.data.interactions import FloatArray
from repro.evaluation.candidates import judge
from repro.evaluation.metrics.shared.curves import Lengths, RelevantRanks, add_places, tally_hits
from repro.evaluation.ranking import gives_order
from repro.protocol import Protocol
from repro.runs.lists import Numbers, StoredLists, codes, list_numbers


@dataclass(frozen=True, eq=False)
class Hits:
    """The relevant items in stored lists.

    lists, ranks       the list and the rank of each hit
    relevant, lengths  for each list, the number of its relevant items and of its ranked items
    depth              the rank down to which lists were stored
    """

    lists: Numbers
    ranks: Numbers
    relevant: Numbers
    lengths: Numbers
    depth: int


@dataclass(frozen=True, eq=False)
class Rates:
    """Means over lists of the rates of their first n items, n = 1 to the depth to which lists were stored.

    recall, precision  over the ``lists`` with a relevant item; a list that has ended keeps its last value
    false              false positive rate, over the lists that also have an item that is not relevant
    complete           whether all lists were stored to their ends
    """

    recall: FloatArray
    precision: FloatArray
    false: FloatArray
    lists: int
    complete: bool


def objection(protocol: Protocol) -> str:
    """The reason why hits and their ranks are unknown from stored lists; empty if they are known."""
    if not gives_order(protocol):
        return f'with ties.break = "{protocol["ties.break"]}" items with equal scores share ranks'
    if protocol["relevance.rule"] == "user-mean" and protocol["candidates.relevant"] != "one":
        return 'with relevance.rule = "user-mean" relevance depends on training rows, which a run does not store'
    return ""


class HitFinder:
    """Finds hits in the lists of a run; relevance is judged once for each fold."""

    def __init__(self, stored: StoredLists) -> None:
        self._stored = stored
        self._relevant: dict[str, Numbers] = {}

    def of(self, label: str) -> list[Hits]:
        """The hits of an algorithm on each fold."""
        folds = []
        for fold, cell in self._stored.run.cells[label].items():
            listed, lists = self._stored.listed(cell), self._stored.lists(cell)
            hit, relevant = self._matched(listed, lists, fold)
            ranks = listed["rank"].to_numpy().astype(np.int64)
            lengths = lists["length"].to_numpy().astype(np.int64)
            depth = int(ranks.max(initial=0))
            folds.append(Hits(list_numbers(listed, lists)[hit], ranks[hit], relevant, lengths, depth))
        return folds

    def _matched(self, listed: pa.Table, lists: pa.Table, fold: str) -> tuple[npt.NDArray[np.bool_], Numbers]:
        """A mask of the rows of ``listed`` that are hits, and the number of relevant items of each list."""
        if "target" in lists.column_names:  # a list about one relevant item
            hit = pc.equal(listed["item"], listed["target"]).to_numpy()
            return hit, np.ones(lists.num_rows, dtype=np.int64)
        users, items = self._stored.users, self._stored.items
        pairs = self._relevant_pairs(fold)
        item = codes(listed["item"], items)
        hit = (item >= 0) & np.isin(codes(listed["user"], users) * len(items) + item, pairs)
        relevant = np.bincount(pairs // max(len(items), 1), minlength=len(users))
        return hit, relevant[codes(lists["user"], users)]

    def _relevant_pairs(self, fold: str) -> Numbers:
        """The relevant pairs of a fold, each as one number."""
        if fold not in self._relevant:
            test = self._stored.tests[fold]
            judged = judge(test.select(np.arange(0)), test, self._stored.run.protocol)
            rows = judged.relevant > 0
            self._relevant[fold] = judged.users[rows].astype(np.int64) * test.n_items + judged.items[rows]
        return self._relevant[fold]


def rates(folds: Sequence[Hits]) -> Rates:
    """The rates of the lists of all folds together, as :mod:`repro.evaluation` computes curves by list length."""
    depth = max(hits.depth for hits in folds)
    curves = Lengths(add_places([_tally(hits) for hits in folds]))
    recall, precision = curves.precision_recall("means")
    false = np.nan_to_num(curves.roc("means")[0][1:])
    complete = all(bool((hits.lengths <= hits.depth).all()) for hits in folds)
    return Rates(recall[:depth], precision[:depth], false[:depth], int(curves.with_relevant), complete)


def _tally(hits: Hits) -> FloatArray:
    """The tally of the lists with a relevant item.

    If a list was cut, relevant items below the cut count as its last ones: all that is known is that they come after
    the stored ones.
    """
    n_hits = np.bincount(hits.lists, minlength=len(hits.lengths))
    hidden = np.clip(hits.relevant - n_hits, 0, np.maximum(hits.lengths - hits.depth, 0))
    later = np.repeat(np.arange(len(hidden)), hidden)
    from_end = np.arange(len(later)) - np.repeat(np.cumsum(hidden) - hidden, hidden)
    lists = np.concatenate([hits.lists, later])
    ranks = np.concatenate([hits.ranks, hits.lengths[later] - from_end])
    order = np.lexsort((ranks, lists))
    counted = hits.relevant > 0
    numbers = np.cumsum(counted) - 1  # of the counted lists
    listed = RelevantRanks.in_order(numbers[lists[order]], ranks[order])
    return tally_hits(listed, hits.lengths[counted], hits.relevant[counted])
