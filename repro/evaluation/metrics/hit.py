"""Hit rate, or success: whether anything relevant is recommended.

    hit@k = 1 where at least one relevant item is among the first k, else 0

An empty list counts 0. A list without relevant items is undefined. A list of fewer than k items is judged by the items
that it has. In 1R this is the recall of Deshpande & Karypis and Cremonesi et al.

Deshpande & Karypis, Item-based top-N recommendation algorithms, TOIS 2004.
"""

from __future__ import annotations

from repro.evaluation.metrics.metric import Background, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT
from repro.evaluation.metrics.shared.hits import defined, first_hits
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST


def hit(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """1 for each list with a relevant item down to ``k``; with expected ties, the probability of one."""
    return Ratio(first_hits(ranked, k, reciprocal=False), defined(1.0, ranked))


METRIC = RankingMetric(
    "hit",
    "Hit rate",
    hit,
    cutoff="required",
    range=UNIT,
    tie_order=RELEVANT_FIRST,
    aliases={"hr": {}, "hit-rate": {}, "hit-ratio": {}, "success": {}},
    ambiguity=(
        "1 for a list with at least one hit; where a source divides the hits by the held-out items, ask for recall, "
        "which is the same where users have one held-out item."
    ),
    task="recommend some good items",
    shows="how many lists have a good item at all; further good items and their ranks have no effect",
    cite="Deshpande & Karypis 2004",
)
