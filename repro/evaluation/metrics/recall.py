"""Recall: the share of the relevant items that are recommended.

    R@k = hits down to k / relevant items

An empty list has no hits and counts 0. A list without relevant items is undefined. A list of fewer than k items has
the hits that it has. Relevant items that are not candidates stay in the denominator. Without a cut-off the whole list
counts, and ``min-relevant`` is all relevant items.

Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 2004.
"""

from __future__ import annotations

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Range, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT, UNIT_AT_SINGLE_RANKS
from repro.evaluation.metrics.shared.hits import limit, relevant_hits
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST
from repro.protocol import Decision, Option, Protocol


def recall(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The hits of each list down to ``k`` over the denominator."""
    return Ratio(relevant_hits(ranked, k), denominators(ranked, k, str(variants["denominator"])))


def denominators(ranked: Ranked, k: int | None, which: str) -> FloatArray:
    """By what the hits of each list are divided; 0 where the list has no relevant items."""
    relevant = ranked.n_relevant.astype(np.float64)
    return relevant if which == "relevant" else np.minimum(relevant, limit(k))


def _range(k: int | None, variants: Variants, protocol: Protocol) -> Range:
    return UNIT if variants["denominator"] == "relevant" else UNIT_AT_SINGLE_RANKS(k, variants, protocol)


METRIC = RankingMetric(
    "recall",
    "Recall",
    recall,
    cutoff="optional",
    variants=(
        Decision.choice(
            "metric.recall.denominator",
            "By what are the hits of a list divided?",
            Option("relevant", "all relevant items", used_by=("recbole", "cornac", "ranx", "pytrec_eval")),
            Option("min-relevant", "min(k, relevant items): what fits into the list", used_by=("lenskit",)),
        ),
    ),
    range=_range,
    tie_order=RELEVANT_FIRST,
    aliases={"r": {}, "rec": {}, "tpr": {}, "sensitivity": {}},
    undefined_in_1r="with one relevant item per list, recall is the hit rate; ask for hit (Deshpande & Karypis 2004)",
    task="recommend all good items",
    shows="how many of a user's good items are in the first k; it can only be high where k is large enough for all",
    cite="Herlocker et al. 2004",
)
