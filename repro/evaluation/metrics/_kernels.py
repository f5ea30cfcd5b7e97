"""Compiled loops over the hits of each list, for rankings in which every hit has one rank.

``ranks`` are doubled ranks (``Ranked.doubled_ranks``), 0 for unranked hits; ``k`` is the cut-off. The hits of a list
are in the order of their ranks. Sums run over the hits of one list in that order, so that a list's bits never
depend on the block it is in. ``tied_part`` says how many of the items that share a rank with an item count as above
it: none (0), half or all (1) of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

compiled = njit(cache=True, nogil=True, error_model="numpy")


@compiled
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


@compiled
def ideal_sums(starts: Any, ends: Any, gains: Any, depths: Any, discounts: Any, repeat_best: bool) -> Any:
    """The discounted gains of the best order of the hits from ``starts`` to ``ends``, down to the depth of each list.

    With ``repeat_best``, of a list in which every item has the list's highest gain.
    """
    sums = np.zeros(len(starts))
    deepest = 0
    for n in range(len(sums)):
        deepest = max(deepest, depths[n])
    until = np.zeros(deepest + 1)  # what the first places are worth together
    for place in range(deepest):
        until[place + 1] = until[place] + discounts[2 * (place + 1)]
    longest = 0
    for n in range(len(sums)):
        longest = max(longest, ends[n] - starts[n])
    ascending = np.empty(longest)
    for n in range(len(sums)):
        ones, positive = 0, 0
        for hit in range(starts[n], ends[n]):
            if gains[hit] > 0.0:
                ones += gains[hit] == 1.0
                ascending[positive] = gains[hit]
                positive += 1
        if ones == positive:  # binary gains, the common case, are counted instead of sorted
            places = depths[n] if repeat_best and ones else min(ones, depths[n])
            sums[n] = until[places]
            continue
        ascending[:positive].sort()
        best = ascending[positive - 1]
        for place in range(depths[n] if repeat_best else min(depths[n], positive)):
            sums[n] += (best if repeat_best else ascending[positive - 1 - place]) * discounts[2 * (place + 1)]
    return sums


@compiled
def first_ranks(offsets: Any, ranks: Any, relevant: Any) -> Any:
    """The doubled rank of the first relevant hit; 0 where there is none."""
    firsts = np.zeros(len(offsets) - 1, dtype=np.int64)
    for n in range(len(firsts)):
        for hit in range(offsets[n], offsets[n + 1]):
            if relevant[hit] and ranks[hit] > 0:
                firsts[n] = ranks[hit]
                break
    return firsts


@compiled
def list_sums(offsets: Any, values: Any) -> Any:
    """The sum of the values of the hits of each list."""
    sums = np.zeros(len(offsets) - 1)
    for n in range(len(sums)):
        total = 0.0
        for hit in range(offsets[n], offsets[n + 1]):
            total += values[hit]
        sums[n] = total
    return sums


@compiled
def group_by_rank(ranks: Any, relevant: Any, hit: Any, end: Any) -> Any:
    """Where the hits that share the rank of ``hit`` end, and how many of them are relevant."""
    last, group = hit, 0
    while last < end and ranks[last] == ranks[hit]:
        group += relevant[last]
        last += 1
    return last, group


@compiled
def precision_sums(offsets: Any, ranks: Any, relevant: Any, k: int, tied_part: float) -> Any:
    """For each list, the sum of the precisions at its relevant hits down to ``k``, and the number of these hits.

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
            last, group = group_by_rank(ranks, relevant, hit, end)
            if group:
                total += group * (2 * (seen + 1 + tied_part * (group - 1)) / ranks[hit])
                seen += group
            hit = last
        sums[n] = total
        counts[n] = seen
    return sums, counts


@compiled
def preference_sums(
    offsets: Any, ranks: Any, relevant: Any, n_relevant: Any, norms: Any, k: int, tied_part: float
) -> Any:
    """For each list, the sum of 1 - min(judged non-relevant above, R) / norm over its relevant hits down to ``k``."""
    sums = np.zeros(len(offsets) - 1)
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


@compiled
def inferred_precision_sums(
    offsets: Any, ranks: Any, relevant: Any, k: int, tied_part: float, epsilon: float, weighted: bool
) -> Any:
    """For each list, the sum of the precisions inferred at its relevant hits down to ``k``.

    The share of relevant items above a hit is taken to be that of the judged ones; with ``weighted``, items that are
    not judged count as not relevant.
    """
    sums = np.zeros(len(offsets) - 1)
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
                if weighted:
                    inferred *= (good + bad) / (rank - 1)
                total += group * (1 / rank + inferred)
            seen_relevant += group
            seen_others += others
            hit = last
        sums[n] = total
    return sums
