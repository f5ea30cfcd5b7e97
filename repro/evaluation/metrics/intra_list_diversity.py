"""Intra-list diversity: how different the items of one list are from each other.

    intra-list-diversity@k = (sum over pairs of items down to k of their distance) / pairs

``aggregate`` is the mean (as above), the sum, the smallest (``min``) or the greatest (``max``) distance of the pairs.
Two items are compared by the users who have them in training (``over=co-ratings``) or by their features
(``over=features``), with the cosine or the Jaccard distance. An item without any such data is at distance 1 from all
others.

A list of fewer than two items, an empty one for example, has no pairs and is left out. A list of fewer than k items is
judged by the pairs that it has. Relevance has no effect. If tied items share a rank, lists count as they are shown.
The expectation over all orders of tied items is refused: it would need all tied candidates of every list.

Ziegler et al., Improving recommendation lists through topic diversification, WWW 2005; Zhang & Hurley, Avoiding
monotony, RecSys 2008; Shani & Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook 2011.
"""

from __future__ import annotations

import numpy as np

from repro.evaluation.metrics.metric import Background, Need, Range, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import ByVariant
from repro.evaluation.metrics.shared.distances import KINDS, distance_decisions, farthest, pair_distances
from repro.evaluation.metrics.shared.lists import refuse_expected, shown
from repro.protocol import Decision, Option, Protocol


def intra_list_diversity(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The distances of the pairs of each list down to ``k``, aggregated."""
    vectors = background.vectors(str(variants["over"]))
    sums, least, greatest, pairs = pair_distances(shown(ranked, k), vectors, KINDS[str(variants["distance"])])
    if variants["aggregate"] == "mean":
        return Ratio(sums, pairs)
    return Ratio({"sum": sums, "min": least, "max": greatest}[str(variants["aggregate"])], np.minimum(pairs, 1.0))


def _range(k: int | None, variants: Variants, protocol: Protocol) -> Range:
    """At most the largest distance, or, for their sum, that of all k (k - 1) / 2 pairs."""
    assert k is not None
    return 0.0, farthest(variants) * (k * (k - 1) / 2 if variants["aggregate"] == "sum" else 1.0)


METRIC = RankingMetric(
    "intra-list-diversity",
    "Intra-list diversity",
    intra_list_diversity,
    cutoff="required",
    variants=(
        Decision.choice(
            "metric.intra-list-diversity.aggregate",
            "What is made of the distances of all pairs?",
            Option("mean", "their mean"),
            Option("sum", "their sum", cite="Ziegler et al. 2005"),
            Option("min", "the smallest one"),
            Option("max", "the greatest one"),
        ),
        *distance_decisions("intra-list-diversity"),
    ),
    also_needs=ByVariant[tuple[Need, ...]]("over", {"features": ("features",)}, ("train",)),
    undefined="left-out",
    objection=refuse_expected,
    range=_range,
    tie_order="which k of many tied items are furthest apart, or closest, is known only after all choices are tried",
    aliases={"ild": {}},
    task="beyond accuracy",
    shows="how different the items of a list are; not whether they are good",
    cite="Ziegler et al. 2005",
)
