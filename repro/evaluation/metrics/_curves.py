"""What precision-recall and ROC curves are drawn from, and the areas below them.

Three ways to join users (Gunawardana & Shani 2009, section 5.2.1). *Pooled*: the (user, item) pairs of all lists,
cut by score; see ``_pooled_pairs.py``. *Lengths*: the first n items of every list, for each n. *Users*: a curve
for each list, then their mean. A relevant item that is in no list is never found, and still counts as relevant.

Sums over lists must not depend on how these were cut into blocks, so they are exact: an amount from 0 to 1 is
written as three whole numbers of 26 bits, and those are added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from repro.data.interactions import FloatArray
from repro.evaluation.metrics._exact import exact_sum
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Protocol

Places = npt.NDArray[np.int64]

_LIMBS, _BASE = 3, float(1 << 26)

_compiled = njit(cache=True, nogil=True, error_model="numpy")


# --- list lengths ---------------------------------------------------------------------------------------------


# The rows of a tally of places. A list that has ended keeps its hits and its precision at all later places.
(
    LISTED,
    OTHERS,
    HITS,
    TRUE_RATES,
    FALSE_RATES,
    ENDED_HITS,
    ENDED_PRECISIONS,
    IDEAL_HITS,
    IDEAL_OTHERS,
    IDEAL_TRUE_RATES,
    IDEAL_FALSE_RATES,
) = range(11)
_ENDED = slice(ENDED_HITS, ENDED_PRECISIONS + 1)


def tally_places(ranked: Ranked) -> FloatArray:
    """:func:`tally_hits` of the lists of a block."""
    return tally_hits(relevant_ranks(ranked), ranked.lengths.astype(np.int64), ranked.n_relevant.astype(np.int64))


def tally_hits(hits: Found, lengths: Places, relevant: Places) -> FloatArray:
    """What the n-th places of lists hold, as exact sums: rows (LISTED, ...) by limbs by places.

    ``lengths`` and ``relevant`` are the numbers of items and of relevant items of each list. Place 0 is empty. Under
    expected ties an item is spread evenly over the places of its tie group: hits within any n are expected hits. The
    ideal lists have all relevant items, then the other ones.
    """
    found = np.bincount(hits.lists, minlength=len(lengths))
    others = lengths - found
    per_relevant, per_other = 1.0 / np.maximum(relevant, 1), 1.0 / np.maximum(others, 1)
    one, first = np.ones(len(lengths)), np.ones(len(lengths), dtype=np.int64)
    # One place more than the longest list, so that the last place says what all lists keep.
    size = max(int(lengths.max(initial=0)), int((relevant + others).max(initial=0))) + 2
    end = np.full(len(lengths), size - 1)
    tally = np.empty((IDEAL_FALSE_RATES + 1, _LIMBS, size))
    tally[LISTED] = _spread(first, lengths, one, size)
    tally[OTHERS] = _spread(first, others, one, size)
    tally[HITS] = _spread(hits.first, hits.last, hits.share, size)
    tally[TRUE_RATES] = _spread(hits.first, hits.last, hits.share * per_relevant[hits.lists], size)
    tally[FALSE_RATES] = _spread(first, lengths, per_other, size)
    tally[FALSE_RATES] -= _spread(hits.first, hits.last, hits.share * per_other[hits.lists], size)
    tally[ENDED_HITS] = _spread(lengths + 1, end, found, size)
    tally[ENDED_PRECISIONS] = _spread(lengths + 1, end, found / np.maximum(lengths, 1), size)
    tally[IDEAL_HITS] = _spread(first, relevant, one, size)
    tally[IDEAL_OTHERS] = _spread(relevant + 1, relevant + others, one, size)
    tally[IDEAL_TRUE_RATES] = _spread(first, relevant, per_relevant, size)
    tally[IDEAL_FALSE_RATES] = _spread(relevant + 1, relevant + others, per_other, size)
    return tally


def add_places(blocks: Sequence[FloatArray]) -> FloatArray:
    """The tallies of several blocks together; past its last place, what a block's lists keep is that of the last."""
    size = max(block.shape[2] for block in blocks)
    total = np.zeros((*blocks[0].shape[:2], size))
    for block in blocks:
        total[:, :, : block.shape[2]] += block
        total[_ENDED, :, block.shape[2] :] += block[_ENDED, :, -1:]
    return total


def _spread(first: Places, last: Places, amounts: npt.ArrayLike, size: int) -> FloatArray:
    """Limbs by places: ``amounts[i]`` added to each place from ``first[i]`` to ``last[i]``."""
    rest = np.asarray(amounts, dtype=np.float64) * _BASE
    sums = np.zeros((_LIMBS, size))
    for limb in range(_LIMBS):
        whole = np.floor(rest)
        sums[limb] += np.bincount(first, whole, minlength=size)[:size]
        sums[limb] -= np.bincount(last + 1, whole, minlength=size)[:size]
        rest = (rest - whole) * _BASE
    return np.cumsum(sums, axis=1)


def _value(limbs: FloatArray) -> FloatArray:
    """The amounts that limbs by places stand for."""
    return (limbs[0] + (limbs[1] + limbs[2] / _BASE) / _BASE) / _BASE


class Lengths:
    """Curves at list lengths n = 0, 1, ...: what the first n items of all lists hold.

    relevant, others            how many relevant and other items the lists have in all
    with_relevant, with_others  how many lists have any
    longest                     the length of the longest list
    """

    def __init__(self, tally: FloatArray) -> None:
        self._tally = tally
        self.relevant, self.with_relevant = self._total(IDEAL_HITS), float(_value(tally[IDEAL_HITS])[1])
        self.others, self.with_others = self._total(OTHERS), float(_value(tally[OTHERS])[1])
        self.longest = int(np.count_nonzero(tally[LISTED, 0]))

    def _total(self, row: int) -> float:
        return float(self._running(row)[-1])

    def _running(self, row: int) -> FloatArray:
        """The amounts at all places down to each one."""
        return _value(np.cumsum(self._tally[row], axis=1))

    def roc(self, rates: str, perfect: bool = False) -> tuple[FloatArray, FloatArray]:
        """False and true positive rate at each n: of all lists together ("totals"), or the means of their rates.

        ``perfect`` gives those of lists that begin with all of their relevant items.
        """
        false, true = self._false_and_true(rates, perfect)
        return _shares(false, self._wholes(rates)[0]), _shares(true, self._wholes(rates)[1])

    def roc_area(self, rates: str, perfect: bool = False) -> float:
        """The area below the curve, with straight lines between its points.

        The curve of expected hits has the expected area. The area is a sum over pairs of lists of the steps of
        one times the heights of the other: two lists are ordered independently, and within one the squares of
        its hits, which are not linear, cancel out but for the last one, which is certain.
        """
        false, true = self._false_and_true(rates, perfect)
        of_false, of_true = self._wholes(rates)
        doubled = exact_sum(np.diff(false) * (true[1:] + true[:-1]))
        return doubled / (2 * of_false * of_true) if of_false and of_true else float("nan")

    def _false_and_true(self, rates: str, perfect: bool) -> tuple[FloatArray, FloatArray]:
        if rates == "means":
            rows = (IDEAL_FALSE_RATES, IDEAL_TRUE_RATES) if perfect else (FALSE_RATES, TRUE_RATES)
            return self._running(rows[0]), self._running(rows[1])
        if perfect:
            return self._running(IDEAL_OTHERS), self._running(IDEAL_HITS)
        hits = self._running(HITS)
        return self._running(LISTED) - hits, hits

    def _wholes(self, rates: str) -> tuple[float, float]:
        return (self.with_others, self.with_relevant) if rates == "means" else (self.others, self.relevant)

    def precision_recall(self, rates: str) -> tuple[FloatArray, FloatArray]:
        """Recall and precision at each n from 1; a list that ends keeps the precision that it has."""
        hits = self._running(HITS)[1:]
        if rates == "totals":
            return _shares(hits, self.relevant), hits / np.maximum(self._running(LISTED)[1:], 1.0)
        going_on = hits - _value(self._tally[ENDED_HITS])[1:]
        precisions = going_on / np.arange(1, len(hits) + 1) + _value(self._tally[ENDED_PRECISIONS])[1:]
        return _shares(self._running(TRUE_RATES)[1:], self.with_relevant), _shares(precisions, self.with_relevant)

    def precision_recall_area(self, trapezoid: bool) -> float:
        """The area below the curve of mean precision and mean recall; see :func:`area_below`."""
        if not self.with_relevant:
            return float("nan")
        recall, precision = self.precision_recall("means")
        before = np.concatenate([[1.0], precision[:-1]])
        return area_below(np.diff(recall, prepend=0.0), before, precision, trapezoid)


def _shares(amounts: FloatArray, of: float) -> FloatArray:
    return amounts / of if of else np.full(len(amounts), np.nan)


def area_below(widths: FloatArray, before: FloatArray, after: FloatArray, trapezoid: bool) -> float:
    """The area below steps of recall, by the precision ``before`` and ``after`` each: that after it, or their mean."""
    return exact_sum(widths * ((before + after) / 2 if trapezoid else after))


# --- a curve for each list ------------------------------------------------------------------------------------


@_compiled
def trapezoid_areas(offsets: Any, above: Any, tied: Any, relevant: Any, n_relevant: Any) -> Any:
    """The (expected) area below the precision-recall curve of each list, with straight lines between its points.

    Recall grows by 1 / relevant at each hit; precision there is the mean of that at the hit and that just before,
    which is 1 at the top. A relevant item is at each of the t places of its tie group with probability 1 / t, and
    then each of the other r - 1 at each of the t - 1 others. -1 where nothing is relevant.
    """
    areas = np.full(len(offsets) - 1, -1.0)
    for n in range(len(areas)):
        if n_relevant[n] == 0:
            continue
        total = 0.0
        seen = 0
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and above[hit] >= 0:
            last, hits = hit, 0
            while last < end and above[last] == above[hit]:
                hits += relevant[last]
                last += 1
            a, t = above[hit], tied[hit]
            hit = last
            if hits == 0:
                continue
            density = (hits - 1) / (t - 1) if t > 1 else 0.0
            group = 0.0
            for j in range(t):
                before = seen + j * density
                group += (before + 1.0) / (a + j + 1)
                group += before / (a + j) if a + j > 0 else 1.0
            total += hits / t * group / 2.0
            seen += hits
        areas[n] = total / n_relevant[n]
    return areas


def user_areas(ranked: Ranked) -> FloatArray:
    """The areas of :func:`trapezoid_areas`, of lists with relevant items, under the tie rule."""
    above, tied = ranked.above, ranked.tied
    if ranked.ties == "definite":
        above, tied = ranked.position - 1, np.ones_like(ranked.tied)
    areas: FloatArray = trapezoid_areas(ranked.offsets, above, tied, ranked.relevant, ranked.n_relevant)
    return areas[ranked.n_relevant > 0]


def mean_roc_at_levels(ranked: Ranked, levels: int) -> tuple[FloatArray, int]:
    """The mean true positive rate at false positive rates 0, 1/(levels-1), ..., 1, and of how many lists.

    Each list has its steps: the rate at a level is that before the first other item that exceeds it.
    """
    hits = relevant_ranks(ranked)
    others = ranked.lengths - np.bincount(hits.lists, minlength=len(ranked))
    counted = (others > 0) & (ranked.n_relevant > 0)
    kept = counted[hits.lists]
    false = (hits.positions - hits.seen)[kept]
    lists = hits.lists[kept]
    reached = -(-false * (levels - 1) // others[lists])  # rounded up
    last = np.full(len(reached), levels - 1)
    rates = _value(_spread(reached, last, 1.0 / ranked.n_relevant[lists], levels + 1))[:levels]
    n = int(counted.sum())
    return _shares(rates, n), n


def mean_precision_at_levels(ranked: Ranked, levels: int) -> tuple[FloatArray, int]:
    """The mean interpolated precision at recalls 0, 1/(levels-1), ..., 1, and of how many lists.

    The precision of a list at a level is the highest at that recall or any beyond; 0 where it gets not so far.
    """
    hits = relevant_ranks(ranked)
    found = np.bincount(hits.lists, minlength=len(ranked))
    precisions = _highest_from_here(hits.lists, hits.seen / hits.positions)
    starts = np.concatenate([[0], np.cumsum(found)[:-1]]).astype(np.int64)
    total = np.zeros(levels)
    counted = ranked.n_relevant > 0
    for level in range(levels):
        needed = np.maximum(-(-level * ranked.n_relevant.astype(np.int64) // (levels - 1)), 1)
        reached = counted & (needed <= found)
        total[level] = exact_sum(precisions[starts[reached] + needed[reached] - 1])
    n = int(counted.sum())
    return _shares(total, n), n


@_compiled
def _highest_from_here(lists: Any, values: Any) -> Any:
    """For each hit the highest value of it and the later ones of its list."""
    highest = values.copy()
    for hit in range(len(values) - 2, -1, -1):
        if lists[hit] == lists[hit + 1]:
            highest[hit] = max(highest[hit], highest[hit + 1])
    return highest


# --- ranks ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Found:
    """The relevant items that are listed, by list and position.

    lists, positions     the list of each, and its place there once ties are broken
    seen                 how many relevant items its list has down to it
    first, last, share   the places it may take, and the probability of each
    """

    lists: Places
    positions: Places
    seen: Places
    first: Places
    last: Places
    share: FloatArray

    @classmethod
    def in_order(cls, lists: Places, positions: Places) -> Found:
        """The relevant items of lists that have an order; ``lists`` ascend, and ``positions`` in each list."""
        seen = np.arange(1, len(lists) + 1) - np.searchsorted(lists, lists, side="left")
        return cls(lists, positions, seen, positions, positions, np.ones(len(lists)))


def relevant_ranks(ranked: Ranked) -> Found:
    rows = np.flatnonzero((ranked.relevant > 0) & (ranked.position > 0))
    lists = np.repeat(np.arange(len(ranked)), np.diff(ranked.offsets))[rows]
    positions = ranked.position[rows].astype(np.int64)
    starts = np.searchsorted(lists, lists, side="left")
    seen = np.arange(1, len(rows) + 1) - starts
    if ranked.ties != "expected":
        return Found.in_order(lists, positions)
    above, tied = ranked.above[rows].astype(np.int64), ranked.tied[rows].astype(np.int64)
    return Found(lists, positions, seen, above + 1, above + tied, 1.0 / tied)


def objection_to_shared_ranks(protocol: Protocol) -> str:
    """Why a curve at list lengths is undefined when tied items share a rank; empty where they do not."""
    rule = protocol.text("ties.break")
    if rule.startswith("shared-"):
        return (
            f'with ties.break = "{rule}" several items have one rank, and no list has a first n items; use a tie '
            'rule that gives one order, such as "item-asc" or "random", or "expected"'
        )
    return ""
