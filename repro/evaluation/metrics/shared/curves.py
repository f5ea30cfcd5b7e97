"""The data of precision-recall and ROC curves, and the areas below them.

Three ways to join users (Gunawardana & Shani 2009, section 5.2.1). *Pooled*: the (user, item) pairs of all lists,
cut by score. Equal scores have no order, whatever ``ties.break`` says about a single list: a threshold includes all of
them or none. *Lengths*: the first n items of every list, for each n. *Users*: a curve for each list, then their mean.
A relevant item that is in no list counts as relevant, below every pair, and is never a hit.

Sums over lists must not depend on how these were cut into blocks, so they are exact: an amount from 0 to 1 is
stored as three whole numbers of 26 bits, and those are added up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import DataError
from repro.evaluation.metrics.shared.declarations import shares_ranks
from repro.evaluation.metrics.shared.exact import exact_sum
from repro.evaluation.metrics.shared.kernels import compiled, tie_group
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Protocol

Places = npt.NDArray[np.int64]

# The most pairs that are sorted together; more would take gigabytes.
MOST_PAIRS = 50_000_000

_LIMBS, _BASE = 3, float(1 << 26)


# --- list lengths ---------------------------------------------------------------------------------------------


# The rows of a tally of places. A list that has ended keeps its hits and its precision at all later places.
LISTED, OTHERS, HITS, TRUE_RATES, FALSE_RATES, ENDED_HITS, ENDED_PRECISIONS = range(7)
IDEAL_HITS, IDEAL_OTHERS, IDEAL_TRUE_RATES, IDEAL_FALSE_RATES = range(7, 11)
_ENDED = slice(ENDED_HITS, ENDED_PRECISIONS + 1)


def tally_places(ranked: Ranked, *_: object) -> FloatArray:
    """:func:`tally_hits` of the lists of a block, as a metric computes it."""
    return tally_hits(relevant_ranks(ranked), ranked.lengths.astype(np.int64), ranked.n_relevant.astype(np.int64))


def tally_hits(hits: RelevantRanks, lengths: Places, relevant: Places) -> FloatArray:
    """The items at the n-th places of lists, as exact sums: rows (LISTED, ...) by limbs by places.

    ``lengths`` and ``relevant`` are the numbers of items and of relevant items of each list. Place 0 is empty. Under
    expected ties an item is spread evenly over the places of its tie group: hits within any n are expected hits. The
    ideal lists have all relevant items, then the other ones.
    """
    n_hits = np.bincount(hits.lists, minlength=len(lengths))
    others = lengths - n_hits
    per_relevant, per_other = 1.0 / np.maximum(relevant, 1), 1.0 / np.maximum(others, 1)
    ones, first = np.ones(len(lengths)), np.ones(len(lengths), dtype=np.int64)
    # One place more than the longest list, so that the last place has what all lists keep.
    size = max(int(lengths.max(initial=0)), int((relevant + others).max(initial=0))) + 2
    end = np.full(len(lengths), size - 1)
    tally = np.empty((IDEAL_FALSE_RATES + 1, _LIMBS, size))
    tally[LISTED] = _spread(first, lengths, ones, size)
    tally[OTHERS] = _spread(first, others, ones, size)
    tally[HITS] = _spread(hits.first, hits.last, hits.share, size)
    tally[TRUE_RATES] = _spread(hits.first, hits.last, hits.share * per_relevant[hits.lists], size)
    tally[FALSE_RATES] = _spread(first, lengths, per_other, size)
    tally[FALSE_RATES] -= _spread(hits.first, hits.last, hits.share * per_other[hits.lists], size)
    tally[ENDED_HITS] = _spread(lengths + 1, end, n_hits, size)
    tally[ENDED_PRECISIONS] = _spread(lengths + 1, end, n_hits / np.maximum(lengths, 1), size)
    tally[IDEAL_HITS] = _spread(first, relevant, ones, size)
    tally[IDEAL_OTHERS] = _spread(relevant + 1, relevant + others, ones, size)
    tally[IDEAL_TRUE_RATES] = _spread(first, relevant, per_relevant, size)
    tally[IDEAL_FALSE_RATES] = _spread(relevant + 1, relevant + others, per_other, size)
    return tally


def add_places(blocks: Sequence[FloatArray]) -> FloatArray:
    """The tallies of several blocks together; past its last place, a block's lists keep the amounts of the last."""
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
        digits = np.floor(rest)
        sums[limb] += np.bincount(first, digits, minlength=size)[:size]
        sums[limb] -= np.bincount(last + 1, digits, minlength=size)[:size]
        rest = (rest - digits) * _BASE
    return np.cumsum(sums, axis=1)


def _value(limbs: FloatArray) -> FloatArray:
    """The amounts that limbs by places stand for."""
    return (limbs[0] + (limbs[1] + limbs[2] / _BASE) / _BASE) / _BASE


class Lengths:
    """Curves at list lengths n = 0, 1, ...: the first n items of all lists.

    relevant, others            the numbers of relevant and other items of all lists
    with_relevant, with_others  the numbers of lists with any
    longest                     the length of the longest list
    """

    def __init__(self, tally: FloatArray) -> None:
        self._tally = tally
        self.relevant, self.others = (float(self._running(row)[-1]) for row in (IDEAL_HITS, OTHERS))
        self.with_relevant, self.with_others = (float(_value(tally[row])[1]) for row in (IDEAL_HITS, OTHERS))
        self.longest = int(np.count_nonzero(tally[LISTED, 0]))

    def _running(self, row: int) -> FloatArray:
        """The amounts at all places down to each one."""
        return _value(np.cumsum(self._tally[row], axis=1))

    def roc(self, rates: str, perfect: bool = False) -> tuple[FloatArray, FloatArray]:
        """False and true positive rate at each n: of all lists together ("totals"), or the means of their rates.

        ``perfect`` gives those of lists that begin with all of their relevant items.
        """
        false, true, all_false, all_true = self._positives(rates, perfect)
        return _shares(false, all_false), _shares(true, all_true)

    def roc_area(self, rates: str, perfect: bool = False) -> float:
        """The area below the curve, with straight lines between its points.

        The curve of expected hits has the expected area. The area is a sum over pairs of lists of the steps of
        the first times the heights of the second: two lists are ordered independently, and within one the squares of
        its hits, which are not linear, cancel out but for the last one, which is certain.
        """
        false, true, all_false, all_true = self._positives(rates, perfect)
        doubled = exact_sum(np.diff(false) * (true[1:] + true[:-1]))
        return doubled / (2 * all_false * all_true) if all_false and all_true else math.nan

    def _positives(self, rates: str, perfect: bool) -> tuple[FloatArray, FloatArray, float, float]:
        """False and true positives down to each n, and what they are divided by."""
        if rates == "means":
            rows = (IDEAL_FALSE_RATES, IDEAL_TRUE_RATES) if perfect else (FALSE_RATES, TRUE_RATES)
            return self._running(rows[0]), self._running(rows[1]), self.with_others, self.with_relevant
        hits = self._running(IDEAL_HITS if perfect else HITS)
        false = self._running(IDEAL_OTHERS) if perfect else self._running(LISTED) - hits
        return false, hits, self.others, self.relevant

    def precision_recall(self, rates: str) -> tuple[FloatArray, FloatArray]:
        """Recall and precision at each n from 1; a list that ends keeps the precision that it has."""
        hits = self._running(HITS)[1:]
        if rates == "totals":
            return _shares(hits, self.relevant), hits / np.maximum(self._running(LISTED)[1:], 1.0)
        unended = hits - _value(self._tally[ENDED_HITS])[1:]
        precisions = unended / np.arange(1, len(hits) + 1) + _value(self._tally[ENDED_PRECISIONS])[1:]
        return _shares(self._running(TRUE_RATES)[1:], self.with_relevant), _shares(precisions, self.with_relevant)

    def precision_recall_area(self, trapezoid: bool) -> float:
        """The area below the curve of mean precision and mean recall; see :func:`area_below`."""
        if not self.with_relevant:
            return math.nan
        recall, precision = self.precision_recall("means")
        before = np.concatenate([[1.0], precision[:-1]])
        return area_below(np.diff(recall, prepend=0.0), before, precision, trapezoid)


def _shares(amounts: FloatArray, of: float) -> FloatArray:
    return amounts / of if of else np.full(len(amounts), np.nan)


def area_below(widths: FloatArray, before: FloatArray, after: FloatArray, trapezoid: bool) -> float:
    """The area below steps of recall, by the precision ``before`` and ``after`` each: that after it, or their mean."""
    return exact_sum(widths * ((before + after) / 2 if trapezoid else after))


# --- a curve for each list ------------------------------------------------------------------------------------


@compiled
def trapezoid_areas(offsets: Any, above: Any, tied: Any, relevant: Any, n_relevant: Any) -> Any:
    """The (expected) area below the precision-recall curve of each list, with straight lines between its points.

    Recall grows by 1 / relevant at each hit; precision there is the mean of that at the hit and that just before,
    which is 1 at the top. A relevant item is at each of the t places of its tie group with probability 1 / t, and
    then each of the other r - 1 at each of the t - 1 others. -1 if nothing is relevant.
    """
    areas = np.full(len(offsets) - 1, -1.0)
    for n in range(len(areas)):
        if n_relevant[n] == 0:
            continue
        total = 0.0
        seen = 0
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and above[hit] >= 0:
            hit, a, t, hits = tie_group(above, tied, relevant, hit, end)
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
    """The areas of :func:`trapezoid_areas`, of lists with relevant items, under the tie rule, as a single row."""
    above, tied = ranked.above, ranked.tied
    if ranked.ties == "definite":
        above, tied = ranked.position - 1, np.ones_like(ranked.tied)
    areas: FloatArray = trapezoid_areas(ranked.offsets, above, tied, ranked.relevant, ranked.n_relevant)
    return areas[np.newaxis, ranked.n_relevant > 0]


def mean_roc_at_levels(ranked: Ranked, levels: int) -> tuple[FloatArray, int]:
    """The mean true positive rate at false positive rates 0, 1/(levels-1), ..., 1, and the number of lists.

    Each list has its steps: the rate at a level is that before the first other item that exceeds it.
    """
    hits = relevant_ranks(ranked)
    others = ranked.lengths - np.bincount(hits.lists, minlength=len(ranked))
    counted = (others > 0) & (ranked.n_relevant > 0)
    of_counted = counted[hits.lists]
    false = (hits.positions - hits.seen)[of_counted]
    lists = hits.lists[of_counted]
    reached = -(-false * (levels - 1) // others[lists])  # rounded up
    last = np.full(len(reached), levels - 1)
    rates = _value(_spread(reached, last, 1.0 / ranked.n_relevant[lists], levels + 1))[:levels]
    n = int(counted.sum())
    return _shares(rates, n), n


def mean_precision_at_levels(ranked: Ranked, levels: int) -> tuple[FloatArray, int]:
    """The mean interpolated precision at recalls 0, 1/(levels-1), ..., 1, and the number of lists.

    The precision of a list at a level is the highest at that recall or any higher one; 0 if it does not reach it.
    """
    hits = relevant_ranks(ranked)
    n_hits = np.bincount(hits.lists, minlength=len(ranked))
    precisions = _highest_from_here(hits.lists, hits.seen / hits.positions)
    starts = np.concatenate([[0], np.cumsum(n_hits)[:-1]]).astype(np.int64)
    total = np.zeros(levels)
    counted = ranked.n_relevant > 0
    for level in range(levels):
        needed = np.maximum(-(-level * ranked.n_relevant.astype(np.int64) // (levels - 1)), 1)
        reached = counted & (needed <= n_hits)
        total[level] = exact_sum(precisions[starts[reached] + needed[reached] - 1])
    n = int(counted.sum())
    return _shares(total, n), n


@compiled
def _highest_from_here(lists: Any, values: Any) -> Any:
    """For each hit the highest value of it and the later ones of its list."""
    highest = values.copy()
    for hit in range(len(values) - 2, -1, -1):
        if lists[hit] == lists[hit + 1]:
            highest[hit] = max(highest[hit], highest[hit + 1])
    return highest


# --- pooled pairs -----------------------------------------------------------------------------------------------


def pooled_pairs(ranked: Ranked, *_: object) -> FloatArray:
    """The pairs of a block: the numbers of relevant and of listed relevant ones, the scores of these, all others."""
    if ranked.scores is None:
        raise DataError(
            "pooled pairs are put in order by the scores of different users, and the recommendations have ranks "
            "only; give a column 'score', or join users by list lengths (croc, pr-auc[join=lengths])"
        )
    _refuse_too_many(int(ranked.lengths.sum()))
    listed = ranked.items >= 0
    ranks = relevant_ranks(ranked)
    relevant = np.zeros(ranked.items.shape, dtype=np.bool_)
    relevant[ranks.lists, ranks.positions - 1] = True
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

    hits             relevant pairs with this score or a higher one
    others, above    other pairs with this score or a higher one; with a higher one
    relevant         all relevant pairs, listed or not
    n_others         all other pairs
    """

    hits: Places
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
            return math.nan
        new = np.diff(self.hits, prepend=0)
        doubled = int((new * (2 * self.n_others - self.others - self.above)).sum())
        return doubled / (2 * self.relevant * self.n_others)

    def precision_recall_area(self, trapezoid: bool) -> float:
        """The area below the precision-recall curve; see :func:`area_below`."""
        if not self.relevant:
            return math.nan
        before = np.concatenate([[0], self.hits[:-1]])
        pairs_before = before + self.above
        precision_before = np.where(pairs_before == 0, 1.0, before / np.maximum(pairs_before, 1))
        precision = self.hits / (self.hits + self.others)
        widths = np.diff(self.hits, prepend=0) / self.relevant
        return area_below(widths, precision_before, precision, trapezoid)


def pooled_points(pairs: FloatArray) -> tuple[FloatArray, Places, Places]:
    """Each score of a pair, the highest first; the numbers of relevant and other pairs with it or a higher one."""
    _, *parts = np.split(pairs, [2, 2 + int(pairs[1])])
    scores = np.unique(pairs[2:])[::-1]
    hits, others = (len(part) - np.searchsorted(np.sort(part), scores, side="left") for part in parts)
    return scores, hits, others


# --- ranks ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RelevantRanks:
    """The relevant items that are listed, by list and position.

    lists, positions     the list of each, and its place there after ties are broken
    seen                 the number of relevant items of its list down to it
    first, last, share   the places that it may take, and the probability of each
    """

    lists: Places
    positions: Places
    seen: Places
    first: Places
    last: Places
    share: FloatArray

    @classmethod
    def in_order(cls, lists: Places, positions: Places) -> RelevantRanks:
        """The relevant items of lists that have an order; ``lists`` ascend, and ``positions`` in each list."""
        seen = np.arange(1, len(lists) + 1) - np.searchsorted(lists, lists, side="left")
        return cls(lists, positions, seen, positions, positions, np.ones(len(lists)))


def relevant_ranks(ranked: Ranked) -> RelevantRanks:
    """The relevant items of each list that are ranked."""
    rows = np.flatnonzero((ranked.relevant > 0) & (ranked.position > 0))
    lists = np.repeat(np.arange(len(ranked)), np.diff(ranked.offsets))[rows]
    ranks = RelevantRanks.in_order(lists, ranked.position[rows].astype(np.int64))
    if ranked.ties != "expected":
        return ranks
    above, tied = ranked.above[rows].astype(np.int64), ranked.tied[rows].astype(np.int64)
    return replace(ranks, first=above + 1, last=above + tied, share=1.0 / tied)


def objection_to_shared_ranks(protocol: Protocol) -> str:
    """The reason why a curve at list lengths is undefined if tied items share a rank; empty if they do not."""
    if shares_ranks(protocol):
        return (
            f'with ties.break = "{protocol["ties.break"]}" several items have one rank, and no list has a first n '
            'items; use a tie rule that gives one order, such as "item-asc" or "random", or "expected"'
        )
    return ""
