"""Reciprocal rank: how early the first relevant item comes.

    RR = 1 / rank of the first relevant item;  RR@k = RR where that rank is at most k, else 0

A list without a hit, an empty one for example, counts 0. A list without relevant items is undefined. A list of fewer
than k items is judged by the items that it has. The mean over users is the MRR.

Voorhees, The TREC-8 question answering track report, TREC 1999.
"""

from __future__ import annotations

from repro.evaluation.metrics.metric import Background, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT
from repro.evaluation.metrics.shared.hits import defined, first_hits
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST


def reciprocal_rank(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """1 / rank of the first relevant item of each list, down to ``k``."""
    return Ratio(first_hits(ranked, k, reciprocal=True), defined(1.0, ranked))


METRIC = RankingMetric(
    "rr",
    "Reciprocal rank",
    reciprocal_rank,
    cutoff="optional",
    range=UNIT,
    tie_order=RELEVANT_FIRST,
    aliases={"mrr": {}, "reciprocal-rank": {}, "mean-reciprocal-rank": {}, "recip-rank": {}},
    ambiguity=(
        "the reciprocal rank of the first relevant item, averaged over users; where a source adds up the reciprocal "
        'ranks of all hits, ask for arhr, and where it averages over held-out items, use candidates.relevant = "one".'
    ),
    task="recommend some good items",
    shows="how early the first good item comes; all later ones have no effect",
    cite="Voorhees 1999",
)
