"""Compiled counts of pairs: how often a relevant item stands above a negative one.

Down to the cut-off ``k`` an item is *listed*; a listed item stands above every one that is not. ``negatives`` of
each list are all its non-relevant items or, with ``judged``, those of its hits that are not relevant. Of a pair
of listed items with the same score, ``tie`` is won, or with a ``tie`` below 0 what the order says; of a pair that
is not listed, ``unlisted`` is won. ``places`` says how many items of each list are listed. The hits of a list are
in the order of their positions, and those of one tie group have the same ``above``; unranked ones have -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from repro.evaluation.metrics._expected import group_end, relevant_among

_compiled = njit(cache=True, nogil=True, error_model="numpy")


@_compiled
def pairs_won(
    offsets: Any,
    position: Any,
    above: Any,
    tied: Any,
    relevant: Any,
    positives: Any,
    negatives: Any,
    places: Any,
    judged: bool,
    k: int,
    tie: float,
    unlisted: float,
) -> Any:
    """The pairs that each list wins, items being listed by ``position``."""
    won = np.zeros(len(offsets) - 1)
    for n in range(len(won)):
        total = 0.0
        good, bad = 0, 0  # listed hits that are relevant, and judged ones that are not
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 <= above[hit] < k:
            stop = group_end(above, hit, end)
            a, last = above[hit], stop
            while last > hit and position[last - 1] > k:
                last -= 1  # the rest of a group that lies across the cut-off
            r = relevant_among(relevant, hit, last)
            before = bad if judged else a - good
            level = last - hit - r if judged else min(tied[hit], k - a) - r
            total += r * (negatives[n] - before - level)
            if tie >= 0:
                total += tie * (r * level)
            else:
                total += pairs_in_order(position, relevant, hit, last, a, level, judged)
            good += r
            bad += last - hit - r
            hit = stop
        seen = bad if judged else places[n] - good
        total += unlisted * ((positives[n] - good) * max(negatives[n] - seen, 0.0))
        won[n] = total
    return won


@_compiled
def pairs_in_order(position: Any, relevant: Any, hit: Any, last: Any, a: Any, level: Any, judged: bool) -> Any:
    """The pairs of a tie group's listed hits and ``level`` listed negatives in which the relevant item is first."""
    won = 0.0
    good, bad = 0, 0
    for member in range(hit, last):
        if relevant[member]:
            won += level - (bad if judged else position[member] - a - 1 - good)
            good += 1
        else:
            bad += 1
    return won


@_compiled
def expected_pairs_won(
    offsets: Any,
    above: Any,
    tied: Any,
    relevant: Any,
    positives: Any,
    negatives: Any,
    places: Any,
    judged: bool,
    k: int,
    tie: float,
    unlisted: float,
) -> Any:
    """E[pairs that each list wins] over all orders of tied items.

    Only the group that lies across the cut-off, ``m`` of whose ``t`` places are within, has items that are listed
    at random: each with probability m/t, two of them with probability m(m-1) / t(t-1).
    """
    won = np.zeros(len(offsets) - 1)
    for n in range(len(won)):
        total = 0.0
        good, bad = 0, 0
        straddled = False
        out = 0.0  # pairs of two items that are not listed, on average
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 <= above[hit] < k:
            last = group_end(above, hit, end)
            a, t = above[hit], tied[hit]
            r = relevant_among(relevant, hit, last)
            q = last - hit - r if judged else t - r
            m = min(t, k - a)
            listed = m / t
            both = m / t * ((m - 1) / (t - 1)) if t > 1 else 0.0
            one = m / t * ((t - m) / (t - 1)) if t > 1 else 0.0
            below = negatives[n] - (bad if judged else a - good)
            total += r * listed * (below - q) + r * q * (one + tie * both)
            if m < t:
                straddled = True
                left = positives[n] - good
                out = left * below - left * (q * listed) - below * (r * listed) + r * q * both
            good += r
            bad += q
            hit = last
        if not straddled:
            seen = bad if judged else places[n] - good
            out = (positives[n] - good) * max(negatives[n] - seen, 0.0)
        won[n] = total + unlisted * out
    return won
