"""Average rank of correct recommendations: where hits stand, when there are any.

    ARC@k = mean rank of the relevant items at ranks down to k

A lower value is the better one. Without a hit there is no rank: a list without relevant items, an empty one, or
one whose first k items are all wrong says nothing and is left out, whatever ``average.no_relevant`` and
``average.no_list`` say; the number of users says how many are in it. It is to be read beside the hit rate: to
find only what is easy lowers it. A list of fewer than k items is judged by the items that it has. Without a
cut-off the whole list counts. With ``ties.break = "expected"`` it is the mean over the orders that have a hit.

Burke, Hybrid recommender systems with case-based components, ECCBR 2004.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics._expected import expected_mean_ranks
from repro.evaluation.metrics._hits import discounted_gains, limit, relevant_hits
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import Range, RankingMetric, Ratio
from repro.evaluation.metrics.tie_order import RELEVANT_LAST, TieOrder
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Protocol, Value


def mean_hit_rank(ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background) -> Ratio:
    """The mean rank of the relevant items of each list down to ``k``."""
    means = _mean_ranks(ranked, limit(k))
    found = ~np.isnan(means)
    return Ratio(np.where(found, means, 0.0), found.astype(np.float64))


def _mean_ranks(ranked: Ranked, k: int) -> FloatArray:
    """The (expected) mean rank of each list's hits, NaN where there are none."""
    if ranked.ties == "expected":
        means: FloatArray = expected_mean_ranks(ranked.offsets, ranked.above, ranked.tied, ranked.relevant, k)
        return means
    hits = relevant_hits(ranked, k)
    sums = discounted_gains(ranked, k, ranked.relevant_gains, "rank")
    return np.where(hits > 0, sums / np.maximum(hits, 1.0), np.nan)


def _range(k: int | None, variants: Mapping[str, Value], protocol: Protocol) -> Range:
    return 1.0, math.inf if k is None else float(k)


def _tie_order(k: int | None, variants: Mapping[str, Value]) -> TieOrder | str:
    """The highest mean rank has relevant items last."""
    if k is not None:
        return (
            "an order of tied items can leave a list without a hit within the cut-off, and so out of the average; ask "
            "for arc without a cut-off, or for rr"
        )
    return RELEVANT_LAST


METRIC = RankingMetric(
    name="arc",
    title="Average rank of correct recommendations",
    compute=mean_hit_rank,
    cutoff="optional",
    undefined="left-out",
    better="lower",
    range=_range,
    tie_order=_tie_order,
    cite="Burke 2004",
)
