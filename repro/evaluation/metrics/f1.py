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

from repro.evaluation.metrics import precision, recall
from repro.evaluation.metrics.metric import Background, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT_AT_SINGLE_RANKS
from repro.evaluation.metrics.shared.hits import relevant_hits
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST
from repro.protocol import Decision, Option


def f1(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """Twice the hits of each list over the sum of the denominators of precision and recall."""
    of_precision = precision.denominators(ranked, k, str(variants["precision"]))
    of_recall = recall.denominators(ranked, k, str(variants["recall"]))
    return Ratio(2.0 * relevant_hits(ranked, k), of_precision + of_recall)


def means(k: int | None, variants: Variants) -> tuple[str, ...]:
    """The mean precision and recall if F1 combines these, and not those of each list."""
    if variants["average"] == "users":
        return ()
    cut = "" if k is None else f"@{k}"
    return tuple(f"{name}[denominator={variants[name]}]{cut}" for name in ("precision", "recall"))


def harmonic_mean(values: Sequence[float]) -> float:
    """The harmonic mean of two numbers, 0 if both are 0."""
    first, second = values
    return 2.0 * first * second / (first + second) if first + second != 0 else 0.0


METRIC = RankingMetric(
    "f1",
    "F1",
    f1,
    cutoff="optional",
    variants=(
        Decision.choice(
            "metric.f1.average",
            "Whose precision and recall are joined?",
            Option("users", "those of each list; F1 is then averaged", used_by=("cornac", "ranx")),
            Option("means", "the averages over all users"),
        ),
        Decision.choice(
            "metric.f1.precision",
            "By what are the hits divided for precision?",
            Option("k", "k, however short the list is", used_by=("cornac", "ranx")),
            Option("list", "min(k, length of the list)"),
            Option("min-relevant", "min(k, relevant items)"),
        ),
        Decision.choice(
            "metric.f1.recall",
            "By what are the hits divided for recall?",
            Option("relevant", "all relevant items", used_by=("cornac", "ranx")),
            Option("min-relevant", "min(k, relevant items)"),
        ),
    ),
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
