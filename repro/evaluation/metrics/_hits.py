"""The counts that several metrics divide in their own way, under every tie rule."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics._expected import expected_first_hits, expected_gain_sums
from repro.evaluation.metrics._kernels import SHARE_BEST, SHARE_MEAN, SHARE_WORST, first_ranks, gain_sums, list_sums
from repro.evaluation.metrics._places import deepest, discounts
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import DEEPEST
from repro.evaluation.ranking.ranked import Ranked

# How items that share a rank count as above each other, by tie rule; where ranks are single, it does not matter.
SHARES = {"shared-best": SHARE_BEST, "shared-mean": SHARE_MEAN, "shared-worst": SHARE_WORST}


def share_of(ranked: Ranked) -> int:
    """The rule by which tied items share a rank, as kernels want it."""
    return SHARES.get(ranked.ties, SHARE_BEST)


def limit(k: int | None) -> int:
    """The cut-off as a number: deeper than any list where there is none."""
    return DEEPEST if k is None else k


def list_lengths(ranked: Ranked, k: int | None) -> FloatArray:
    """How many items each list holds down to ``k``; an empty list counts as one place without a hit."""
    return np.maximum(np.minimum(ranked.lengths, limit(k)), 1).astype(np.float64)


def slots(ranked: Ranked, k: int | None) -> FloatArray:
    """The k of each list: the cut-off, or the length of the list where there is none."""
    return list_lengths(ranked, None) if k is None else np.full(len(ranked), float(k))


def defined(values: FloatArray, ranked: Ranked) -> FloatArray:
    """The values (denominators), and 0 for lists without relevant items, where no metric of those is defined."""
    return np.where(ranked.n_relevant > 0, values, 0.0)


def discounted_gains(ranked: Ranked, k: int, gains: FloatArray, kind: str, base: float = 2.0) -> FloatArray:
    """The (expected) sum of the discounted gains of each list's hits down to ``k``."""
    worth = discounts(kind, base, deepest(ranked, k))
    if ranked.ties == "expected":
        return expected_gain_sums(ranked.offsets, ranked.above, ranked.tied, gains, worth, k)
    return gain_sums(ranked.offsets, ranked.doubled_ranks, gains, worth, k)


def relevant_hits(ranked: Ranked, k: int | None) -> FloatArray:
    """The (expected) number of relevant items of each list down to ``k``."""
    return discounted_gains(ranked, limit(k), ranked.relevant_gains, "none")


def first_hits(ranked: Ranked, k: int | None, reciprocal: bool) -> FloatArray:
    """For each list 1 / rank of its first relevant item, or 1, where that is within ``k``, else 0; or E of it."""
    cut = limit(k)
    if ranked.ties == "expected":
        return expected_first_hits(ranked.offsets, ranked.above, ranked.tied, ranked.relevant, cut, reciprocal)
    firsts = first_ranks(ranked.offsets, ranked.doubled_ranks, ranked.relevant)
    within = (firsts > 0) & (firsts <= 2 * cut)
    return np.where(within, 2.0 / np.maximum(firsts, 1) if reciprocal else 1.0, 0.0)


def listed_relevant(ranked: Ranked) -> FloatArray:
    """How many relevant items each list ranks at all; lists must be ranked to the end."""
    sums: FloatArray = list_sums(ranked.offsets, (ranked.above >= 0) & (ranked.relevant > 0))
    return sums


def n_negatives(ranked: Ranked, which: str, background: Background) -> FloatArray:
    """How many negative items each list has.

    ``candidates``: those that it ranks and that are not relevant (lists must be ranked to the end); ``judged``:
    the held-out items that are not relevant, ranked or not; ``catalogue``: all items but the relevant ones.
    """
    match which:
        case "candidates":
            return ranked.lengths - listed_relevant(ranked)
        case "judged":
            return (np.diff(ranked.offsets) - ranked.n_relevant).astype(np.float64)
        case _:
            known = np.zeros(background.n_items, dtype=np.bool_)
            known[background.catalogue] = True
            sums: FloatArray = list_sums(ranked.offsets, known[ranked.hit_items] & (ranked.relevant > 0))
            return len(background.catalogue) - sums
