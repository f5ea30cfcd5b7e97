"""The counts that several metrics divide in their own way, under every tie rule."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import FloatArray
from repro.metrics._expected import expected_first_hits, expected_gain_sums
from repro.metrics._kernels import first_ranks, gain_sums
from repro.metrics._places import deepest, discounts
from repro.metrics.metric import DEEPEST
from repro.ranking.ranked import Ranked


def limit(k: int | None) -> int:
    """The cut-off as a number: deeper than any list where there is none."""
    return DEEPEST if k is None else k


def list_lengths(ranked: Ranked, k: int | None) -> FloatArray:
    """How many items each list holds down to ``k``; an empty list counts as one place without a hit."""
    return np.maximum(np.minimum(ranked.lengths, limit(k)), 1).astype(np.float64)


def slots(ranked: Ranked, k: int | None) -> FloatArray:
    """The k of each list: the cut-off, or the length of the list where there is none."""
    return list_lengths(ranked, None) if k is None else np.full(len(ranked), float(k))


def defined(denominator: FloatArray, ranked: Ranked) -> FloatArray:
    """The denominator, and 0 for lists without relevant items, where no metric of relevant items is defined."""
    return np.where(ranked.n_relevant > 0, denominator, 0.0)


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
