"""Compiled loops over the hits of each list, for rankings in which every hit has one rank.

``ranks`` are doubled ranks (see ``_places``), 0 for unranked hits; ``k`` is the cut-off. The hits of a list are
in the order of their ranks. Sums run over the hits of one list in that order, so that a list's bits never
depend on the block it is in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_compiled = njit(cache=True, nogil=True, error_model="numpy")

SHARE_BEST, SHARE_MEAN, SHARE_WORST = 0, 1, 2


@_compiled
def gain_sums(offsets: Any, ranks: Any, gains: Any, discounts: Any, k: int) -> Any:
    """The discounted gains of the hits down to ``k``."""
    sums = np.zeros(len(offsets) - 1)
    for n in range(len(sums)):
        total = 0.0
        for hit in range(offsets[n], offsets[n + 1]):
            if not 0 < ranks[hit] <= 2 * k:
                break  # the others are further down, or unranked
            total += gains[hit] * discounts[ranks[hit]]
        sums[n] = total
    return sums


@_compiled
def ideal_sums(offsets: Any, gains: Any, depths: Any, discounts: Any, repeat_best: bool) -> Any:
    """The discounted gains of the best order of all held-out items, down to the depth of each list.

    With ``repeat_best``, of an imagined list in which every item has the list's highest gain.
    """
    sums = np.zeros(len(offsets) - 1)
    deepest = 0
    for n in range(len(sums)):
        deepest = max(deepest, depths[n])
    until = np.zeros(deepest + 1)  # what the first places are worth together
    for place in range(deepest):
        until[place + 1] = until[place] + discounts[2 * (place + 1)]
    longest = 0
    for n in range(len(sums)):
        longest = max(longest, offsets[n + 1] - offsets[n])
    ascending = np.empty(longest)
    for n in range(len(sums)):
        ones, others = 0, 0
        for hit in range(offsets[n], offsets[n + 1]):
            if gains[hit] > 0.0:
                ones += gains[hit] == 1.0
                ascending[others] = gains[hit]
                others += 1
        if ones == others:  # binary gains, the common case, are counted instead of sorted
            places = depths[n] if repeat_best and ones else min(ones, depths[n])
            sums[n] = until[places]
            continue
        ascending[:others].sort()
        best = ascending[others - 1]
        for place in range(depths[n] if repeat_best else min(depths[n], others)):
            sums[n] += (best if repeat_best else ascending[others - 1 - place]) * discounts[2 * (place + 1)]
    return sums


@_compiled
def descending(gains: Any) -> Any:
    """The gains, highest first. Binary gains, the common case, are counted instead of compared."""
    ordered = np.zeros(len(gains))
    ones = 0
    for gain in gains:
        if gain == 1.0:
            ones += 1
        elif gain != 0.0:
            ordered[:] = gains
            ordered.sort()
            return ordered[::-1].copy()
    ordered[:ones] = 1.0
    return ordered


@_compiled
def listed_shares(offsets: Any, ranks: Any, gains: Any, discounts: Any, k: int) -> Any:
    """The discounted gains of the hits down to ``k`` as a share of those of the same hits in the best order."""
    shares = np.zeros(len(offsets) - 1)
    for n in range(len(shares)):
        start, end = offsets[n], offsets[n + 1]
        found = np.zeros(end - start)
        count = 0
        total = 0.0
        for hit in range(start, end):
            if 0 < ranks[hit] <= 2 * k:
                found[count] = gains[hit]
                count += 1
                total += gains[hit] * discounts[ranks[hit]]
        best = descending(found[:count])
        ideal = 0.0
        for place in range(count):
            ideal += best[place] * discounts[2 * (place + 1)]
        if ideal > 0:
            shares[n] = total / ideal
    return shares


@_compiled
def first_ranks(offsets: Any, ranks: Any, relevant: Any) -> Any:
    """The doubled rank of the first relevant hit; 0 where there is none."""
    firsts = np.zeros(len(offsets) - 1, dtype=np.int64)
    for n in range(len(firsts)):
        for hit in range(offsets[n], offsets[n + 1]):
            if relevant[hit] and ranks[hit] > 0:
                firsts[n] = ranks[hit]
                break
    return firsts


@_compiled
def precision_sums(offsets: Any, ranks: Any, relevant: Any, k: int, share: int) -> Any:
    """For each list, the sum of the precisions at its relevant hits down to ``k``, and how many these are.

    The precision at a hit is its rank among the relevant items over its rank among all. Relevant hits that
    share a rank share the one among the relevant items by the same rule.
    """
    sums = np.zeros(len(offsets) - 1)
    counts = np.zeros(len(offsets) - 1)
    for n in range(len(sums)):
        total = 0.0
        seen = 0
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 < ranks[hit] <= 2 * k:
            rank = ranks[hit]
            group = 0
            while hit < end and ranks[hit] == rank:
                group += relevant[hit]
                hit += 1
            if group:
                if share == SHARE_BEST:
                    among_relevant = 2 * (seen + 1)
                elif share == SHARE_MEAN:
                    among_relevant = 2 * seen + group + 1
                else:
                    among_relevant = 2 * (seen + group)
                total += group * (among_relevant / rank)
                seen += group
        sums[n] = total
        counts[n] = seen
    return sums, counts


@_compiled
def list_sums(offsets: Any, values: Any) -> Any:
    """The sum of what the hits of each list have."""
    sums = np.zeros(len(offsets) - 1)
    for n in range(len(sums)):
        total = 0.0
        for hit in range(offsets[n], offsets[n + 1]):
            total += values[hit]
        sums[n] = total
    return sums


@_compiled
def shared_part(share: int) -> float:
    """How many of the items that share a rank with an item count as above it: none, half or all of them."""
    if share == SHARE_BEST:
        return 0.0
    return 0.5 if share == SHARE_MEAN else 1.0


@_compiled
def group_by_rank(ranks: Any, relevant: Any, hit: Any, end: Any) -> Any:
    """Where the hits that share the rank of ``hit`` end, and how many of them are relevant."""
    last, group = hit, 0
    while last < end and ranks[last] == ranks[hit]:
        group += relevant[last]
        last += 1
    return last, group


@_compiled
def preference_sums(offsets: Any, ranks: Any, relevant: Any, n_relevant: Any, norms: Any, k: int, share: int) -> Any:
    """For each list, the sum of 1 - min(judged non-relevant above, R) / norm over its relevant hits down to ``k``."""
    sums = np.zeros(len(offsets) - 1)
    tied_part = shared_part(share)
    for n in range(len(sums)):
        total = 0.0
        seen = 0
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 < ranks[hit] <= 2 * k:
            last, group = group_by_rank(ranks, relevant, hit, end)
            others = last - hit - group
            above = min(seen + tied_part * others, float(n_relevant[n]))
            total += group * (1.0 - above / norms[n] if above > 0 else 1.0)
            seen += others
            hit = last
        sums[n] = total
    return sums


@_compiled
def inferred_precision_sums(
    offsets: Any, ranks: Any, relevant: Any, k: int, share: int, epsilon: float, weighed: bool
) -> Any:
    """For each list, the sum of the precisions inferred at its relevant hits down to ``k``.

    Among the items above a hit, as many are taken to be relevant as among the judged ones; with ``weighed``, only
    where they are judged.
    """
    sums = np.zeros(len(offsets) - 1)
    tied_part = shared_part(share)
    for n in range(len(sums)):
        total = 0.0
        seen_relevant, seen_others = 0, 0
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 < ranks[hit] <= 2 * k:
            rank = ranks[hit] / 2
            last, group = group_by_rank(ranks, relevant, hit, end)
            others = last - hit - group
            good = seen_relevant + tied_part * (group - 1)
            bad = seen_others + tied_part * others
            if rank == 1:
                total += group
            elif group:
                inferred = (rank - 1) / rank * ((good + epsilon) / (good + bad + 2 * epsilon))
                if weighed:
                    inferred *= (good + bad) / (rank - 1)
                total += group * (1 / rank + inferred)
            seen_relevant += group
            seen_others += others
            hit = last
        sums[n] = total
    return sums
