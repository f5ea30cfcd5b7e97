"""Compiled loops over the hits of each list.

The hits of a list are in the order of their ranks. Sums run over the hits of one list in that order, so that a list's
bits never depend on the block it is in. ``k`` is the cut-off.

First for rankings in which every hit has one rank: ``ranks`` are doubled ranks (``Ranked.doubled_ranks``), 0 for
unranked hits, and ``tied_part`` says how many of the items that share a rank with an item count as above it: none (0),
half or all (1) of them.

Then exact expectations over all orders of tied items (McSherry & Najork, ECIR 2008). A tie group of ``t`` items, ``r``
of them relevant, below ``a`` items with higher scores takes the places a+1 to a+t in every order with the same
probability; ``m`` of these places lie within the cut-off. Groups are ordered independently of each other, and only the
last one within the cut-off can straddle it. Hits of one group have the same ``above`` and stand together; unranked ones
have -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from repro import compiling

compiled = compiling.compiled("numpy")


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
    """The end of the hits that share the rank of ``hit``, and the number of relevant ones among them."""
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


# --- expectations over all orders of tied items -----------------------------------------------------------------------


@compiled
def tie_group(above: Any, tied: Any, amounts: Any, hit: Any, end: Any) -> Any:
    """The tie group that starts at ``hit``: its end, ``a``, ``t``, and the sum of the amounts of its hits."""
    last, a, total = hit, above[hit], 0
    while last < end and above[last] == a:
        total += amounts[last]
        last += 1
    return last, a, tied[hit], total


@compiled
def expected_gain_sums(offsets: Any, above: Any, tied: Any, gains: Any, discounts: Any, k: int) -> Any:
    """E[discounted gains down to k]: each item of a group has the mean discount of the group's places."""
    sums = np.zeros(len(offsets) - 1)
    for n in range(len(sums)):
        total = 0.0
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 <= above[hit] < k:
            a, t, gain = above[hit], tied[hit], 0.0
            while hit < end and above[hit] == a:
                gain += gains[hit]
                hit += 1
            worth = 0.0
            for place in range(a + 1, min(a + t, k) + 1):
                worth += discounts[2 * place]
            total += gain * worth / t
        sums[n] = total
    return sums


@compiled
def expected_first_hits(offsets: Any, above: Any, tied: Any, relevant: Any, k: int, reciprocal: bool) -> Any:
    """E[1 / rank of the first relevant hit, where that is within k], or with 1 in place of 1 / rank.

    The first relevant item of a group is at its place j with probability C(t-j, r-1) / C(t, r).
    """
    values = np.zeros(len(offsets) - 1)
    for n in range(len(values)):
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 <= above[hit] < k:
            hit, a, t, r = tie_group(above, tied, relevant, hit, end)
            if r == 0:
                continue
            if not reciprocal and a + t - r < k:  # too few others to keep all relevant ones out
                values[n] = 1.0
                break
            total = 0.0
            probability = r / t
            for j in range(1, min(t - r + 1, k - a) + 1):
                total += probability / (a + j) if reciprocal else probability
                if j < t:
                    probability *= (t - j - r + 1) / (t - j)
            values[n] = total
            break
    return values


@compiled
def group_precisions(seen: Any, a: Any, hits: Any, places: Any, within: Any) -> Any:
    """E[sum of precisions at the relevant items of a group on the first ``within`` of its places].

    ``hits`` relevant items are on ``places`` places at random, below ``seen`` relevant and ``a`` items in all.
    Place j holds one with probability hits/places, and then (j-1)(hits-1)/(places-1) of those before it do.
    """
    others = (hits - 1) / (places - 1) if places > 1 else 0.0
    total = 0.0
    for j in range(1, within + 1):
        total += (seen + 1 + (j - 1) * others) / (a + j)
    return hits / places * total


@compiled
def expected_precision_sums(offsets: Any, above: Any, tied: Any, relevant: Any, k: int) -> Any:
    """E[sum of precisions at the relevant hits down to k]."""
    sums = np.zeros(len(offsets) - 1)
    for n in range(len(sums)):
        total = 0.0
        seen = 0
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 <= above[hit] < k:
            hit, a, t, r = tie_group(above, tied, relevant, hit, end)
            if r:
                total += group_precisions(seen, a, r, t, min(t, k - a))
                seen += r
        sums[n] = total
    return sums


@compiled
def hit_probabilities(t: Any, r: Any, m: Any) -> Any:
    """P(h of the r relevant items are on the first m of t places), h = 0..min(r, m): hypergeometric.

    Built outwards from the mode, so that nothing overflows.
    """
    low, high = max(0, m - (t - r)), min(r, m)
    weights = np.zeros(high + 1)
    mode = min(max((r + 1) * (m + 1) // (t + 2), low), high)
    weights[mode] = 1.0
    for h in range(mode, high):
        weights[h + 1] = weights[h] * ((r - h) * (m - h)) / ((h + 1.0) * (t - r - m + h + 1.0))
    for h in range(mode, low, -1):
        weights[h - 1] = weights[h] * (h * (t - r - m + h)) / ((r - h + 1.0) * (m - h + 1.0))
    total = 0.0
    for h in range(low, high + 1):
        total += weights[h]
    return weights / total


@compiled
def group_sum(seen: Any, a: Any, hits: Any, places: Any, of_precisions: bool) -> Any:
    """E[sum of the precisions (ranks) of ``hits`` relevant items on ``places`` places], all within the cut-off."""
    return group_precisions(seen, a, hits, places, places) if of_precisions else hits * (a + (places + 1) / 2)


@compiled
def expected_means(offsets: Any, above: Any, tied: Any, relevant: Any, k: int, of_precisions: bool) -> Any:
    """E[mean of the precisions (ranks) at the relevant hits down to k]; 0 (NaN) where there are none.

    The number of hits is random only in the group that straddles the cut-off: summed over its distribution. The mean
    rank is that over the orders that have a hit.
    """
    values = np.full(len(offsets) - 1, 0.0 if of_precisions else np.nan)
    for n in range(len(values)):
        total = 0.0
        seen = 0
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 <= above[hit] < k:
            hit, a, t, r = tie_group(above, tied, relevant, hit, end)
            if r == 0:
                continue
            m = min(t, k - a)
            if m == t:
                total += group_sum(seen, a, r, t, of_precisions)
                seen += r
                continue
            chances = hit_probabilities(t, r, m)
            mean, chance = 0.0, 0.0
            for h in range(0 if seen else 1, len(chances)):
                mean += chances[h] * ((total + group_sum(seen, a, h, m, of_precisions)) / (seen + h))
                chance += chances[h]
            values[n] = mean if of_precisions else mean / chance
            break
        else:
            if seen:
                values[n] = total / seen
    return values


@compiled
def expected_preference_sums(
    offsets: Any, above: Any, tied: Any, relevant: Any, n_relevant: Any, norms: Any, k: int
) -> Any:
    """E[sum over the relevant hits down to k of 1 - min(judged non-relevant above, R) / norm].

    A relevant hit is on each place of its group with the same probability; of the j-1 places before place j, a
    hypergeometric number holds judged non-relevant items.
    """
    sums = np.zeros(len(offsets) - 1)
    for n in range(len(sums)):
        total = 0.0
        seen = 0
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 <= above[hit] < k:
            last, a, t, r = tie_group(above, tied, relevant, hit, end)
            others = last - hit - r
            preferred = 0.0
            for j in range(1, (min(t, k - a) if r else 0) + 1):
                chances = hit_probabilities(t - 1, others, j - 1)
                for h in range(len(chances)):
                    worse = min(seen + h, n_relevant[n])
                    preferred += chances[h] * (1.0 - worse / norms[n] if worse > 0 else 1.0)
            total += r * preferred / t
            seen += others
            hit = last
        sums[n] = total
    return sums


@compiled
def expected_listed_shares(offsets: Any, above: Any, tied: Any, relevant: Any, discounts: Any, k: int) -> Any:
    """E[DCG of the relevant hits down to k over the DCG of as many hits at the top], 0 where there are none."""
    values = np.zeros(len(offsets) - 1)
    for n in range(len(values)):
        total = 0.0
        ideal = 0.0
        seen = 0
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 <= above[hit] < k:
            hit, a, t, r = tie_group(above, tied, relevant, hit, end)
            if r == 0:
                continue
            m = min(t, k - a)
            worth = 0.0
            for place in range(a + 1, a + m + 1):
                worth += discounts[2 * place]
            if m == t:
                total += r * worth / t
                for place in range(seen + 1, seen + r + 1):
                    ideal += discounts[2 * place]
                seen += r
                continue
            chances = hit_probabilities(t, r, m)
            mean = 0.0
            for h in range(len(chances)):
                if h > 0:
                    ideal += discounts[2 * (seen + h)]
                if seen + h > 0:
                    mean += chances[h] * ((total + h * worth / m) / ideal)
            values[n] = mean
            break
        else:
            if seen:
                values[n] = total / ideal
    return values
