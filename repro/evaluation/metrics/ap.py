"""Average precision: the precision at each relevant item, averaged.

    AP@k = (sum of P@rank over the relevant items at ranks down to k) / relevant items

An empty list has no hits and counts 0. A list without relevant items is undefined. A list of fewer than k items is
judged by the items that it has. Without a cut-off the whole list counts, and ``min-relevant`` is all relevant items.
The mean over users is the MAP. The precision at a hit is its rank among the relevant items over its rank among all; if
tied items share a rank, both are shared in the same way.

Buckley & Voorhees, Evaluating evaluation measure stability, SIGIR 2000.
"""

from __future__ import annotations

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT_AT_SINGLE_RANKS
from repro.evaluation.metrics.shared.hits import defined, limit, list_lengths, slots, tied_part
from repro.evaluation.metrics.shared.kernels import expected_means, expected_precision_sums, precision_sums
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST, BySearch, TieOrder
from repro.protocol import Decision, Option


def average_precision(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The sum of the precisions at each list's relevant items over the denominator."""
    relevant = ranked.n_relevant.astype(np.float64)
    match variants["denominator"]:
        case "relevant":
            denominator = relevant
        case "min-relevant":
            denominator = np.minimum(relevant, limit(k))
        case "min-list":
            denominator = np.minimum(relevant, list_lengths(ranked, k))
        case "k":
            denominator = slots(ranked, k)
        case _:  # the number of hits may itself be random, so the mean is taken within the list
            return Ratio(_precisions(ranked, limit(k), mean=True), defined(1.0, ranked))
    return Ratio(_precisions(ranked, limit(k), mean=False), defined(denominator, ranked))


def _precisions(ranked: Ranked, k: int, mean: bool) -> FloatArray:
    """The (expected) sum or mean of the precisions at the relevant items of each list down to ``k``."""
    if ranked.ties == "expected":
        hits = ranked.offsets, ranked.above, ranked.tied, ranked.relevant, k
        return expected_means(*hits, True) if mean else expected_precision_sums(*hits)
    sums, counts = precision_sums(ranked.offsets, ranked.doubled_ranks, ranked.relevant, k, tied_part(ranked))
    return sums / np.maximum(counts, 1) if mean else sums


def _tie_order(k: int | None, variants: Variants) -> TieOrder:
    """A relevant item that moves up adds more; but one that comes in may lower the mean of the precisions at hits."""
    return BySearch() if variants["denominator"] == "hits" and k is not None else RELEVANT_FIRST


METRIC = RankingMetric(
    "ap",
    "Average precision",
    average_precision,
    cutoff="optional",
    variants=(
        Decision.choice(
            "metric.ap.denominator",
            "By what is the sum of the precisions divided?",
            Option("relevant", "all relevant items", used_by=("cornac", "ranx", "pytrec_eval")),
            Option("min-relevant", "min(k, relevant items)", used_by=("implicit", "recbole")),
            Option("min-list", "min(k, length of the list, relevant items)", used_by=("lenskit",)),
            Option("k", "k; without a cut-off, the length of the list"),
            Option("hits", "the relevant items found"),
        ),
    ),
    range=UNIT_AT_SINGLE_RANKS,
    tie_order=_tie_order,
    aliases={"map": {}, "average-precision": {}, "mean-average-precision": {}},
    ambiguity=(
        "the denominator is that of metric.ap.denominator, by default all relevant items; where a source divides by "
        "min(k, relevant items), as implicit and RecBole do, ask for ap[denominator=min-relevant]."
    ),
    undefined_in_1r=(
        "with one relevant item per list, average precision is the reciprocal rank; ask for rr (Bellogín 2012, 4.6.3)"
    ),
    task="recommend all good items",
    shows="how early all good items of a user come, from precision at each of them",
    cite="Buckley & Voorhees 2000",
)
