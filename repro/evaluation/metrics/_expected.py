"""Compiled exact expectations over all orders of tied items (McSherry & Najork, ECIR 2008).

A tie group of ``t`` items, ``r`` of them relevant, below ``a`` items with higher scores takes the places a+1 to
a+t in every order with the same probability; ``m`` of these places lie within the cut-off ``k``. Groups are
ordered independently of each other, and only the last one within the cut-off can straddle it. Hits of one group have
the same ``above`` and stand together; unranked ones have -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from repro.evaluation.metrics._kernels import compiled


@compiled
def tie_group(above: Any, tied: Any, amounts: Any, hit: Any, end: Any) -> Any:
    """The tie group that starts at ``hit``: its end, ``a``, ``t``, and the sum of the amounts of its hits."""
    last, total = hit, 0
    while last < end and above[last] == above[hit]:
        total += amounts[last]
        last += 1
    return last, above[hit], tied[hit], total


@compiled
def sum_of_places(discounts: Any, first: Any, last: Any) -> Any:
    """The sum of the discounts from place ``first`` to place ``last``."""
    total = 0.0
    for place in range(first, last + 1):
        total += discounts[2 * place]
    return total


@compiled
def expected_gain_sums(offsets: Any, above: Any, tied: Any, gains: Any, discounts: Any, k: int) -> Any:
    """E[discounted gains down to k]: each item of a group has the mean discount of the group's places."""
    sums = np.zeros(len(offsets) - 1)
    for n in range(len(sums)):
        total = 0.0
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 <= above[hit] < k:
            hit, a, t, gain = tie_group(above, tied, gains, hit, end)
            total += gain * sum_of_places(discounts, a + 1, min(a + t, k)) / t
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
def expected_mean_precisions(offsets: Any, above: Any, tied: Any, relevant: Any, k: int) -> Any:
    """E[mean of the precisions at the relevant hits down to k], 0 where there are none.

    The number of hits is random only in the group that straddles the cut-off: summed over its distribution.
    """
    values = np.zeros(len(offsets) - 1)
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
                total += group_precisions(seen, a, r, t, t)
                seen += r
                continue
            chances = hit_probabilities(t, r, m)
            mean = 0.0
            for h in range(0 if seen else 1, len(chances)):
                mean += chances[h] * ((total + group_precisions(seen, a, h, m, m)) / (seen + h))
            values[n] = mean
            break
        else:
            if seen:
                values[n] = total / seen
    return values


@compiled
def expected_mean_ranks(offsets: Any, above: Any, tied: Any, relevant: Any, k: int) -> Any:
    """E[mean rank of the relevant hits down to k], over the orders that have any; NaN where none has."""
    values = np.full(len(offsets) - 1, np.nan)
    for n in range(len(values)):
        total = 0.0
        seen = 0
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 <= above[hit] < k:
            hit, a, t, r = tie_group(above, tied, relevant, hit, end)
            if r == 0:
                continue
            m = min(t, k - a)
            rank = a + (m + 1) / 2  # of a hit on any of the group's places within the cut-off, on average
            if m == t:
                total += r * rank
                seen += r
                continue
            chances = hit_probabilities(t, r, m)
            mean, chance = 0.0, 0.0
            for h in range(0 if seen else 1, len(chances)):
                mean += chances[h] * ((total + h * rank) / (seen + h))
                chance += chances[h]
            values[n] = mean / chance
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
            worth = sum_of_places(discounts, a + 1, a + m)
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
