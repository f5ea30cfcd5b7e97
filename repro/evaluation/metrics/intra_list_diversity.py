"""Intra-list diversity: how different the items of one list are from each other.

    intra-list-diversity@k = (sum over pairs of items down to k of their distance) / pairs

``aggregate`` asks for the mean (as above), the sum, the smallest (``min``) or the greatest distance (``max``)
of the pairs. Two items are compared by the users who have them in training (``over=co-ratings``) or by their
features (``over=features``), with the cosine or the Jaccard distance. An item of which nothing is known is at
distance 1 from all others.

A list of fewer than two items, an empty one for example, has no pairs and is left out. A list of fewer than k
items is judged by the pairs that it has. Which items are relevant plays no part. Where tied items share a rank,
lists count as they are shown. The expectation over all orders of tied items would need all tied candidates of
every list, and is refused.

Ziegler et al., Improving recommendation lists through topic diversification, WWW 2005; Zhang & Hurley, Avoiding
monotony, RecSys 2008; Shani & Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook 2011.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repro.evaluation.metrics._distances import distance_decisions, kind_of, pair_distances
from repro.evaluation.metrics._lists import refuse_expected, shown
from repro.evaluation.metrics._ranges import farthest
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import Need, Range, RankingMetric, Ratio
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Decision, Option, Protocol, Value


def intra_list_diversity(ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background) -> Ratio:
    """The distances of the pairs of each list down to ``k``, aggregated as asked for."""
    vectors = background.vectors(str(variants["over"]))
    sums, least, greatest, pairs = pair_distances(shown(ranked, k), vectors, kind_of(variants))
    once = np.minimum(pairs, 1.0)
    match variants["aggregate"]:
        case "mean":
            return Ratio(sums, pairs)
        case "sum":
            return Ratio(sums, once)
        case "min":
            return Ratio(least, once)
        case _:
            return Ratio(greatest, once)


def _needs(variants: Mapping[str, Value]) -> tuple[Need, ...]:
    return ("features",) if variants["over"] == "features" else ("train",)


def _range(k: int | None, variants: Mapping[str, Value], protocol: Protocol) -> Range:
    """At most the largest distance, or, for their sum, that of all k (k - 1) / 2 pairs."""
    assert k is not None
    return 0.0, farthest(variants) * (k * (k - 1) / 2 if variants["aggregate"] == "sum" else 1.0)


def _tie_order(k: int | None, variants: Mapping[str, Value]) -> str:
    return "which k of many tied items are furthest apart, or closest, is known only after all choices are tried"


METRIC = RankingMetric(
    name="intra-list-diversity",
    title="Intra-list diversity",
    compute=intra_list_diversity,
    cutoff="required",
    variants=(
        Decision(
            "metric.intra-list-diversity.aggregate",
            "What is made of the distances of all pairs?",
            options=(
                Option("mean", "their mean"),
                Option("sum", "their sum", cite="Ziegler et al. 2005"),
                Option("min", "the smallest one"),
                Option("max", "the greatest one"),
            ),
            default="mean",
        ),
        *distance_decisions("intra-list-diversity"),
    ),
    also_needs=_needs,
    undefined="left-out",
    objection=refuse_expected,
    range=_range,
    tie_order=_tie_order,
    aliases={"ild": {}},
    cite="Ziegler et al. 2005",
)
