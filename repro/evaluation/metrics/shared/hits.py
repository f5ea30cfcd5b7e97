"""The counts and discounted gains that several metrics divide in their own way, under every tie rule.

Ranks are doubled whole numbers: the mean rank of two tied items at places 2 and 3 is 2.5, stored as 5. A table of
discounts is read at these doubled ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.candidates.lists import Offsets
from repro.evaluation.metrics.metric import DEEPEST, Background, Ranked
from repro.evaluation.metrics.shared.kernels import (
    expected_first_hits,
    expected_gain_sums,
    first_ranks,
    gain_sums,
    ideal_sums,
    list_sums,
)


def tied_part(ranked: Ranked) -> float:
    """The share of the items with the rank of an item that count as above it: none, half or all of them."""
    return {"shared-mean": 0.5, "shared-worst": 1.0}.get(ranked.ties, 0.0)


def limit(k: int | None) -> int:
    """The cut-off as a number: deeper than any list if there is none."""
    return DEEPEST if k is None else k


def list_lengths(ranked: Ranked, k: int | None) -> FloatArray:
    """The number of items of each list down to ``k``; an empty list counts as one place without a hit."""
    return np.maximum(np.minimum(ranked.lengths, limit(k)), 1).astype(np.float64)


def slots(ranked: Ranked, k: int | None) -> FloatArray:
    """The k of each list: the cut-off, or the length of the list if there is none."""
    return list_lengths(ranked, None) if k is None else np.full(len(ranked), float(k))


def defined(values: FloatArray | float, ranked: Ranked) -> FloatArray:
    """The values (denominators), and 0 for lists without relevant items, where the metric is undefined."""
    return np.where(ranked.n_relevant > 0, values, 0.0)


# The parameter of a discount: a base, or the weight of each rank.
Base = float | tuple[float, ...]


def _weight(rank: float, weights: Any) -> float:
    """The weight of a rank, 0 beyond the last one; a rank between two has the mean of their weights."""
    below, above = (weights[place - 1] if place <= len(weights) else 0.0 for place in (int(rank), math.ceil(rank)))
    return float(below + above) / 2.0


# What a gain is worth at a rank, by the kind of discount, which may have a base.
_DISCOUNTS: dict[str, Callable[[float, Any], float]] = {
    "none": lambda rank, base: 1.0,
    "log2": lambda rank, base: 1.0 / math.log2(rank + 1.0),
    "log-base": lambda rank, base: 1.0 / max(1.0, math.log2(rank) if base == 2 else math.log(rank) / math.log(base)),
    "half-life": lambda rank, base: math.exp2((1.0 - rank) / (base - 1.0)),
    "geometric": lambda rank, base: math.pow(base, rank - 1.0),
    "reciprocal": lambda rank, base: 1.0 / rank,
    "rank": lambda rank, base: rank,
    "table": _weight,
}


def discounts(kind: str, base: Base, depth: int) -> FloatArray:
    """The discount of a gain at each doubled rank, at least down to rank ``depth``."""
    return _discount_table(kind, base, 1 << max(6, depth.bit_length()))


@cache
def _discount_table(kind: str, base: Base, depth: int) -> FloatArray:
    # math.log2, one by one: the last bit of NumPy's vectorised logarithms may differ between processors.
    discount = _DISCOUNTS[kind]
    table = np.array([0.0] + [discount(max(1.0, doubled / 2), base) for doubled in range(1, 2 * depth + 1)])
    table.setflags(write=False)
    return table


def deepest(ranked: Ranked, k: int) -> int:
    """The deepest place down to ``k`` that any hit may take."""
    if not len(ranked.position):
        return 1
    places = ranked.position if ranked.ties == "definite" else ranked.above + ranked.tied
    return max(1, min(k, int(places.max())))


def discounted_gains(ranked: Ranked, k: int, gains: FloatArray, kind: str, base: Base = 2.0) -> FloatArray:
    """The (expected) sum of the discounted gains of each list's hits down to ``k``."""
    worth = discounts(kind, base, deepest(ranked, k))
    if ranked.ties == "expected":
        return expected_gain_sums(ranked.offsets, ranked.above, ranked.tied, gains, worth, k)
    return gain_sums(ranked.offsets, ranked.doubled_ranks, gains, worth, k)


def ideal_gains(
    ranked: Ranked, depths: Offsets, gains: FloatArray, kind: str, base: Base, repeat_best: bool = False
) -> FloatArray:
    """The sum of the discounted gains of the best order of each list's held-out items, down to its depth.

    With ``repeat_best``, of a list in which every item has the list's highest gain.
    """
    worth = discounts(kind, base, int(depths.max(initial=1)))
    return ideal_sums(ranked.offsets[:-1], ranked.offsets[1:], gains, depths, worth, repeat_best)


def relevant_hits(ranked: Ranked, k: int | None) -> FloatArray:
    """The (expected) number of relevant items of each list down to ``k``."""
    return discounted_gains(ranked, limit(k), ranked.relevant_gains, "none")


def first_hits(ranked: Ranked, k: int | None, reciprocal: bool) -> FloatArray:
    """For each list 1 / rank of its first relevant item, or 1, if that is within ``k``, else 0; or E of it."""
    cut = limit(k)
    if ranked.ties == "expected":
        return expected_first_hits(ranked.offsets, ranked.above, ranked.tied, ranked.relevant, cut, reciprocal)
    firsts = first_ranks(ranked.offsets, ranked.doubled_ranks, ranked.relevant)
    within = (firsts > 0) & (firsts <= 2 * cut)
    return np.where(within, 2.0 / np.maximum(firsts, 1) if reciprocal else 1.0, 0.0)


def listed_relevant(ranked: Ranked) -> FloatArray:
    """The number of relevant items that each list ranks at all; lists must be ranked to the end."""
    return list_sums(ranked.offsets, (ranked.above >= 0) & (ranked.relevant > 0))


def n_negatives(ranked: Ranked, which: str, background: Background) -> FloatArray:
    """The number of negative items of each list.

    ``candidates``: those that it ranks and that are not relevant (lists must be ranked to the end); ``judged``:
    the held-out items that are not relevant, ranked or not; ``catalogue``: all items but the relevant ones.
    """
    if which == "candidates":
        return ranked.lengths - listed_relevant(ranked)
    if which == "judged":
        return (np.diff(ranked.offsets) - ranked.n_relevant).astype(np.float64)
    known = np.zeros(background.n_items, dtype=np.bool_)
    known[background.catalogue] = True
    return len(background.catalogue) - list_sums(ranked.offsets, known[ranked.hit_items] & (ranked.relevant > 0))
