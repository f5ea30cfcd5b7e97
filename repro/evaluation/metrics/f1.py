"""F1: the harmonic mean of precision and recall.

    F1@k = 2 * precision@k * recall@k / (precision@k + recall@k) = 2 * hits down to k / (k + relevant items)

``average`` says whose precision and recall: those of each list (``users``; then averaged), or the averages of all
(``means``). ``precision`` and ``recall`` name their denominators a and b; the F1 of a list is 2 * hits / (a + b) for
all of them, so that its expectation over the orders of tied items is exact.

An empty list has no hits and counts 0. A list without relevant items is undefined. A list of fewer than k items is
divided as in precision. Without a cut-off k is the length of the list in precision, and recall has all relevant items
below. If precision and recall are both 0, so is their mean.

van Rijsbergen, Information retrieval, 2nd edition, Butterworths 1979.
"""

from __future__ import annotations

from collections.abc import Sequence

from repro.evaluation.metrics.metric import Background, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT_AT_SINGLE_RANKS
from repro.evaluation.metrics.shared.f_measure import f_measure, means, variants_of, weighted_mean
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST


def f1(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """Twice the hits of each list over the sum of the denominators of precision and recall."""
    return f_measure(ranked, k, variants, 1.0)


def harmonic_mean(values: Sequence[float], variants: Variants) -> float:
    """The harmonic mean of two numbers, 0 if both are 0."""
    return weighted_mean(values, 1.0)


METRIC = RankingMetric(
    "f1",
    "F1",
    f1,
    cutoff="optional",
    variants=variants_of("f1", "cornac", "ranx"),
    parts=means,
    join=harmonic_mean,
    range=UNIT_AT_SINGLE_RANKS,
    tie_order=RELEVANT_FIRST,
    aliases={"f-measure": {}, "f-score": {}, "f1-measure": {}, "f1-score": {}},
    undefined_in_1r=(
        "with one relevant item per list, recall is the hit rate and F1@k is 2 / (k + 1) of it; ask for hit "
        "(Deshpande & Karypis 2004)"
    ),
    task="recommend some good items",
    shows="precision and recall in one number; it hides which of the two an algorithm gains on",
    cite="van Rijsbergen 1979",
)
