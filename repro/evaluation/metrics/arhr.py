"""Average reciprocal hit rank: hits count, the more the earlier they come.

    ARHR@k = sum of 1 / rank over the relevant items at ranks down to k

A list without a hit, an empty one for example, counts 0. A list without relevant items is undefined. A list of fewer
than k items is judged by the items that it has. Without a cut-off the whole list counts. With several relevant items
the sum can exceed 1; with one per list (1R), where it was defined, it is the reciprocal rank.

Deshpande & Karypis, Item-based top-N recommendation algorithms, TOIS 2004.
"""

from __future__ import annotations

import math

from repro.evaluation.metrics.metric import Background, Range, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import NOT_NEGATIVE, shares_ranks
from repro.evaluation.metrics.shared.hits import defined, discounted_gains, limit
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST
from repro.protocol import Protocol


def reciprocal_hit_ranks(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The sum of 1 / rank over the relevant items of each list down to ``k``."""
    return Ratio(discounted_gains(ranked, limit(k), ranked.relevant_gains, "reciprocal"), defined(1.0, ranked))


def _range(k: int | None, variants: Variants, protocol: Protocol) -> Range:
    """The first k places are worth 1 + 1/2 + ... + 1/k together, the k-th harmonic number."""
    if k is None or shares_ranks(protocol):
        return NOT_NEGATIVE
    # Beyond 1,000 places H_k < ln k + 0.5773 + 1 / 2k, which is as good as the sum itself.
    return 0.0, math.fsum(1 / n for n in range(1, k + 1)) if k <= 1000 else math.log(k) + 0.57722 + 0.5 / k


METRIC = RankingMetric(
    "arhr",
    "Average reciprocal hit rank",
    reciprocal_hit_ranks,
    cutoff="optional",
    range=_range,
    tie_order=RELEVANT_FIRST,
    aliases={"average-reciprocal-hit-rank": {}},
    task="recommend some good items",
    shows="how many good items are in the list, and how early each comes",
    cite="Deshpande & Karypis 2004",
)
