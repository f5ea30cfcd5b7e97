"""The (user, item) pairs of all lists in one pool, in order of score.

Equal scores have no order, whatever ``ties.break`` says of those in one list: a threshold takes in all of them or
none. A relevant item that is in no list has no score: it counts among the relevant ones, below every pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repro.data.interactions import FloatArray
from repro.errors import DataError
from repro.evaluation.metrics._curves import Places, area_below, relevant_ranks
from repro.evaluation.ranking.ranked import Ranked

# Beyond this, sorting them takes gigabytes.
MOST_PAIRS = 50_000_000


def pooled_pairs(ranked: Ranked) -> FloatArray:
    """The pairs of a block: how many relevant ones there are, how many of them are listed, their scores, all others'.

    One number for each pair, so that as many as possible can be held.
    """
    if ranked.scores is None:
        raise DataError(
            "pooled pairs are put in order by the scores of different users, and the recommendations have ranks "
            "only; give a column 'score', or join users by list lengths (croc, pr-auc[join=lengths])"
        )
    _refuse_too_many(int(ranked.lengths.sum()))
    listed = ranked.items >= 0
    found = relevant_ranks(ranked)
    relevant = np.zeros(ranked.items.shape, dtype=np.bool_)
    relevant[found.lists, found.positions - 1] = True
    hits = ranked.scores[relevant]
    return np.concatenate([[ranked.n_relevant.sum(), len(hits)], hits, ranked.scores[listed & ~relevant]])


def join_pairs(blocks: Sequence[FloatArray]) -> FloatArray:
    """The pairs of several blocks."""
    _refuse_too_many(sum(len(block) - 2 for block in blocks))
    parts = [np.split(block, [2, 2 + int(block[1])]) for block in blocks]
    heads, hits, others = zip(*parts, strict=True)
    return np.concatenate([np.sum(heads, axis=0), *hits, *others])


def _refuse_too_many(pairs: int) -> None:
    if pairs > MOST_PAIRS:
        raise DataError(
            f"there are at least {pairs:,} (user, item) pairs here, more than the {MOST_PAIRS:,} that are sorted "
            "together at once; ask for croc or pr-auc[join=lengths], which need no pool, or rank fewer "
            'candidates (candidates.negatives = "sampled")'
        )


@dataclass(frozen=True, eq=False)
class Pool:
    """Pooled pairs cut at each score that a relevant pair has, the highest first.

    found            relevant pairs with this score or a higher one
    others, above    other pairs with this score or a higher one; with a higher one
    relevant         all relevant pairs, listed or not
    n_others         all other pairs
    """

    found: Places
    others: Places
    above: Places
    relevant: int
    n_others: int

    @classmethod
    def of(cls, pairs: FloatArray) -> Pool:
        _, hits, others = np.split(pairs, [2, 2 + int(pairs[1])])
        scores, counts = np.unique(hits, return_counts=True)
        others = np.sort(others)
        at_least = len(others) - np.searchsorted(others, scores[::-1], side="left")
        above = len(others) - np.searchsorted(others, scores[::-1], side="right")
        return cls(np.cumsum(counts[::-1]), at_least, above, int(pairs[0]), len(others))

    @property
    def roc_area(self) -> float:
        """The share of (relevant, other) pairs of pairs in the right order; equal scores count half."""
        if not self.relevant or not self.n_others:
            return float("nan")
        new = np.diff(self.found, prepend=0)
        doubled = int((new * (2 * self.n_others - self.others - self.above)).sum())
        return doubled / (2 * self.relevant * self.n_others)

    def precision_recall_area(self, trapezoid: bool) -> float:
        """The area below the precision-recall curve; see :func:`area_below`."""
        if not self.relevant:
            return float("nan")
        before = np.concatenate([[0], self.found[:-1]])
        none_yet = before + self.above == 0
        precision_before = np.where(none_yet, 1.0, before / np.maximum(before + self.above, 1))
        precision = self.found / (self.found + self.others)
        widths = np.diff(self.found, prepend=0) / self.relevant
        return area_below(widths, precision_before, precision, trapezoid)


def pooled_points(pairs: FloatArray) -> tuple[FloatArray, Places, Places]:
    """Each score of a pair, the highest first; relevant and other pairs that have it or a higher one."""
    _, hits, others = np.split(pairs, [2, 2 + int(pairs[1])])
    scores = np.unique(pairs[2:])[::-1]
    found = len(hits) - np.searchsorted(np.sort(hits), scores, side="left")
    return scores, found, len(others) - np.searchsorted(np.sort(others), scores, side="left")
