"""F1: the harmonic mean of precision and recall.

    F1@k = 2 * precision@k * recall@k / (precision@k + recall@k) = 2 * hits down to k / (k + relevant items)

``average`` says whose precision and recall: those of each list (``users``; then averaged), or the averages of all
(``means``). ``precision`` and ``recall`` name their denominators a and b; the F1 of a list is 2 * hits / (a + b)
for all of them, so that its expectation over the orders of tied items is exact.

An empty list has no hits and counts 0. A list without relevant items is undefined. A list of fewer than k items
is divided as in precision. Without a cut-off k is the length of the list in precision, and recall has all relevant
items below. Where precision and recall are both 0,
so is their mean.

van Rijsbergen, Information retrieval, 2nd edition, Butterworths 1979.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repro.evaluation.metrics import precision, recall
from repro.evaluation.metrics._hits import relevant_hits
from repro.evaluation.metrics._ranges import AtSingleRanks
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import RankingMetric, Ratio
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Decision, Option, Value


def f1(ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background) -> Ratio:
    """Twice the hits of each list over the sum of the denominators of precision and recall."""
    of_precision = precision.denominators(ranked, k, str(variants["precision"]))
    of_recall = recall.denominators(ranked, k, str(variants["recall"]))
    return Ratio(2.0 * relevant_hits(ranked, k), of_precision + of_recall)


def means(k: int | None, variants: Mapping[str, Value]) -> tuple[str, ...]:
    """The two averages that F1 is made of, where it is not made of those of each list."""
    if variants["average"] == "users":
        return ()
    cut = "" if k is None else f"@{k}"
    return (
        f"precision[denominator={variants['precision']}]{cut}",
        f"recall[denominator={variants['recall']}]{cut}",
    )


def harmonic_mean(values: Sequence[float]) -> float:
    """The harmonic mean of two numbers, 0 where both are 0."""
    first, second = values
    return 2.0 * first * second / (first + second) if first + second != 0 else 0.0


METRIC = RankingMetric(
    name="f1",
    title="F1",
    compute=f1,
    cutoff="optional",
    variants=(
        Decision(
            "metric.f1.average",
            "Whose precision and recall are joined?",
            options=(
                Option("users", "those of each list; F1 is then averaged", used_by=("cornac", "ranx")),
                Option("means", "the averages over all users"),
            ),
            default="users",
        ),
        Decision(
            "metric.f1.precision",
            "By what are the hits divided for precision?",
            options=(
                Option("k", "k, however short the list is", used_by=("cornac", "ranx")),
                Option("list", "min(k, length of the list)"),
                Option("min-relevant", "min(k, relevant items)"),
            ),
            default="k",
        ),
        Decision(
            "metric.f1.recall",
            "By what are the hits divided for recall?",
            options=(
                Option("relevant", "all relevant items", used_by=("cornac", "ranx")),
                Option("min-relevant", "min(k, relevant items)"),
            ),
            default="relevant",
        ),
    ),
    parts=means,
    join=harmonic_mean,
    range=AtSingleRanks(0.0, 1.0),
    tie_order=RELEVANT_FIRST,
    aliases={"f-measure": {}, "f-score": {}},
    undefined_in_1r=(
        "with one relevant item per list, recall is the hit rate and F1@k is 2 / (k + 1) of it; ask for hit "
        "(Deshpande & Karypis 2004)"
    ),
    cite="van Rijsbergen 1979",
)
