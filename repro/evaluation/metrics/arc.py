"""Average rank of correct recommendations: where hits stand, when there are any.

    ARC@k = mean rank of the relevant items at ranks down to k

A lower value is the better one. Without a hit there is no rank: a list without relevant items, an empty one, or one
whose first k items are all wrong has no value and is left out, whatever ``average.no_relevant`` and
``average.no_list`` say; the number of users says how many lists count. Read it together with the hit rate: an
algorithm that finds only easy items has a low value. A list of fewer than k items is judged by the items that it has.
Without a cut-off the whole list counts. With ``ties.break = "expected"`` it is the mean over the orders with a hit.

Burke, Hybrid recommender systems with case-based components, ECCBR 2004.
"""

from __future__ import annotations

import math

import numpy as np

from repro.evaluation.metrics.metric import Background, Range, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.hits import discounted_gains, limit, relevant_hits
from repro.evaluation.metrics.shared.kernels import expected_means
from repro.evaluation.metrics.tie_order import RELEVANT_LAST, TieOrder
from repro.protocol import Protocol


def mean_hit_rank(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The (expected) mean rank of the relevant items of each list down to ``k``."""
    if ranked.ties == "expected":
        means = expected_means(ranked.offsets, ranked.above, ranked.tied, ranked.relevant, limit(k), False)
        has_hits = ~np.isnan(means)
    else:
        hits = relevant_hits(ranked, k)
        means = discounted_gains(ranked, limit(k), ranked.relevant_gains, "rank") / np.maximum(hits, 1.0)
        has_hits = hits > 0
    return Ratio(np.where(has_hits, means, 0.0), has_hits.astype(np.float64))


def _range(k: int | None, variants: Variants, protocol: Protocol) -> Range:
    return 1.0, math.inf if k is None else float(k)


def _tie_order(k: int | None, variants: Variants) -> TieOrder | str:
    """The highest mean rank has relevant items last."""
    if k is not None:
        return (
            "an order of tied items can leave a list without a hit within the cut-off, and so out of the average; ask "
            "for arc without a cut-off, or for rr"
        )
    return RELEVANT_LAST


METRIC = RankingMetric(
    "arc",
    "Average rank of correct recommendations",
    mean_hit_rank,
    cutoff="optional",
    undefined="left-out",
    better="lower",
    range=_range,
    tie_order=_tie_order,
    task="recommend some good items",
    shows="how early hits come, of those lists that have one; it does not show how many lists have one",
    cite="Burke 2004",
)
