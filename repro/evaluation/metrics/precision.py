"""Precision: the share of the recommended items that are relevant.

    P@k = hits down to k / k

An empty list has no hits and counts 0. A list without relevant items is undefined. A list of fewer than k items is
divided by k, as if it went on with non-relevant items, unless the denominator says otherwise. Without a cut-off k is
the length of the list. With ``ties.break = "shared-best"`` more than k items can have a rank of at most k, and it can
exceed 1.

Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 2004.
"""

from __future__ import annotations

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT_AT_SINGLE_RANKS
from repro.evaluation.metrics.shared.hits import defined, list_lengths, relevant_hits, slots
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST
from repro.protocol import Decision, Option


def precision(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The hits of each list down to ``k`` over the denominator."""
    return Ratio(relevant_hits(ranked, k), denominators(ranked, k, str(variants["denominator"])))


def denominators(ranked: Ranked, k: int | None, which: str) -> FloatArray:
    """By what the hits of each list are divided; 0 where the list has no relevant items."""
    if which == "min-relevant":
        return np.minimum(slots(ranked, k), ranked.n_relevant)
    return defined(slots(ranked, k) if which == "k" else list_lengths(ranked, k), ranked)


METRIC = RankingMetric(
    "precision",
    "Precision",
    precision,
    cutoff="optional",
    variants=(
        Decision.choice(
            "metric.precision.denominator",
            "By what are the hits of a list divided?",
            Option("k", "k, however short the list is", used_by=("recbole", "cornac", "ranx", "pytrec_eval")),
            Option("list", "min(k, length of the list)", used_by=("lenskit",)),
            Option("min-relevant", "min(k, relevant items)", used_by=("implicit",)),
        ),
    ),
    range=UNIT_AT_SINGLE_RANKS,
    tie_order=RELEVANT_FIRST,
    aliases={"p": {}, "prec": {}},
    task="recommend some good items",
    shows="how many of the first k items are good; their order, and good items that are missing, have no effect",
    cite="Herlocker et al. 2004",
)
