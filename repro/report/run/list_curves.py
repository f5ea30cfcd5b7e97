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
from repro.evaluation.metrics._curves import Found, Lengths, add_places, tally_hits
from repro.evaluation.ranking.ties import gives_order
from repro.protocol import Protocol
from repro.runs.lists import Numbers, StoredLists, codes, list_numbers


@dataclass(frozen=True, eq=False)
class Hits:
    """The relevant items that lists show: the list and the rank of each; and of each list, how many are relevant and
    how many it ranks. ``depth`` is how far down lists were stored."""

    lists: Numbers
    ranks: Numbers
    relevant: Numbers
    lengths: Numbers
    depth: int


@dataclass(frozen=True, eq=False)
class Rates:
    """Means over lists of what their first n items hold, n = 1 to the depth to which lists were stored.

    recall, precision  over the ``lists`` with something relevant; a list that has ended keeps what it has
    false              false positive rate, over those that have something else too
    whole              whether all lists were stored to their ends
    """

    recall: FloatArray
    precision: FloatArray
    false: FloatArray
    lists: int
    whole: bool


def objection(protocol: Protocol) -> str:
    """Why hits and their ranks cannot be told from stored lists, in words; an empty text where they can."""
    if not gives_order(protocol):
        return f'with ties.break = "{protocol["ties.break"]}" items with equal scores have no ranks of their own'
    if protocol["relevance.rule"] == "user-mean" and protocol["candidates.relevant"] != "one":
        return 'with relevance.rule = "user-mean" it takes the training rows to say what is relevant'
    return ""


class HitFinder:
    """Finds hits in the lists of a run; what is relevant is judged once for each fold."""

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
        """Which rows of ``listed`` are hits, and how many relevant items each list has."""
        if "target" in lists.column_names:  # a list about one relevant item
            hit = pc.equal(listed["item"], listed["target"]).to_numpy()
            return hit, np.ones(lists.num_rows, dtype=np.int64)
        users, items = self._stored.users, self._stored.items
        pairs = self._relevant_pairs(fold)
        item = codes(listed["item"], items)
        hit = (item >= 0) & np.isin(codes(listed["user"], users) * len(items) + item, pairs)
        every = np.bincount(pairs // max(len(items), 1), minlength=len(users))
        return hit, every[codes(lists["user"], users)]

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
    whole = all(bool((hits.lengths <= hits.depth).all()) for hits in folds)
    return Rates(recall[:depth], precision[:depth], false[:depth], int(curves.with_relevant), whole)


def _tally(hits: Hits) -> FloatArray:
    """The tally of the lists with something relevant.

    Where a list was cut, relevant items that are not among those stored are taken to be at its end: all that is known
    of their places is that they come after the stored ones.
    """
    found = np.bincount(hits.lists, minlength=len(hits.lengths))
    hidden = np.clip(hits.relevant - found, 0, np.maximum(hits.lengths - hits.depth, 0))
    later = np.repeat(np.arange(len(hidden)), hidden)
    from_end = np.arange(len(later)) - np.repeat(np.cumsum(hidden) - hidden, hidden)
    lists = np.concatenate([hits.lists, later])
    ranks = np.concatenate([hits.ranks, hits.lengths[later] - from_end])
    order = np.lexsort((ranks, lists))
    kept = hits.relevant > 0
    numbers = np.cumsum(kept) - 1  # of the lists that are kept
    listed = Found.in_order(numbers[lists[order]], ranks[order])
    return tally_hits(listed, hits.lengths[kept], hits.relevant[kept])
