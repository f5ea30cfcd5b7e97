"""F-beta: the harmonic mean of precision and recall in which recall counts beta times as much.

    F@k = (1 + beta^2) * precision@k * recall@k / (beta^2 * precision@k + recall@k)

``beta`` above 1 favours recall, below 1 precision; 1 is the metric f1. The other variants are those of f1: ``average``
says whose precision and recall are joined, ``precision`` and ``recall`` name their denominators a and b. The F-beta of
a list is (1 + beta^2) * hits / (a + beta^2 * b).

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
from repro.protocol import Decision


def f_beta(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The F-beta of each list."""
    return f_measure(ranked, k, variants, float(variants["beta"]))


def weighted_harmonic_mean(values: Sequence[float], variants: Variants) -> float:
    """The weighted harmonic mean of a precision and a recall, 0 if both are 0."""
    return weighted_mean(values, float(variants["beta"]))


METRIC = RankingMetric(
    "f-beta",
    "F-beta",
    f_beta,
    cutoff="optional",
    variants=(
        Decision(
            "metric.f-beta.beta",
            "How many times as much as precision does recall count?",
            "number",
            default=2.0,
            minimum=0.001,
            excluded=(1.0,),
            typical=(0.5, 2.0),
            cite="van Rijsbergen 1979",
        ),
        *variants_of("f-beta"),
    ),
    parts=means,
    join=weighted_harmonic_mean,
    range=UNIT_AT_SINGLE_RANKS,
    tie_order=RELEVANT_FIRST,
    aliases={"f2": {"beta": "2.0"}, "f2-score": {"beta": "2.0"}, "f2-measure": {"beta": "2.0"}},
    undefined_in_1r=(
        "with one relevant item per list, recall is the hit rate and F-beta@k is a multiple of it; ask for hit "
        "(Deshpande & Karypis 2004)"
    ),
    task="recommend some good items",
    shows="precision and recall in one number, where one of the two matters more",
    cite="van Rijsbergen 1979",
)
