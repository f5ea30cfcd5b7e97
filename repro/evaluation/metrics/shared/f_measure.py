"""F-measures: weighted harmonic means of precision and recall, with recall counting beta times as much.

    F@k = (1 + beta^2) * P * R / (beta^2 * P + R) = (1 + beta^2) * hits / (a + beta^2 * b)

for a precision P = hits / a and a recall R = hits / b, by the variants that name a and b.
"""

from __future__ import annotations

from collections.abc import Sequence

from repro.evaluation.metrics import precision, recall
from repro.evaluation.metrics.metric import Ranked, Ratio, Variants
from repro.evaluation.metrics.shared.hits import relevant_hits
from repro.protocol import Decision, Option


def f_measure(ranked: Ranked, k: int | None, variants: Variants, beta: float) -> Ratio:
    """The hits of each list over the weighted sum of the denominators of precision and recall."""
    of_precision = precision.denominators(ranked, k, str(variants["precision"]))
    of_recall = recall.denominators(ranked, k, str(variants["recall"]))
    weight = beta * beta
    return Ratio((1.0 + weight) * relevant_hits(ranked, k), of_precision + weight * of_recall)


def means(k: int | None, variants: Variants) -> tuple[str, ...]:
    """The mean precision and recall if the measure combines these, and not those of each list."""
    if variants["average"] == "users":
        return ()
    cut = "" if k is None else f"@{k}"
    return tuple(f"{name}[denominator={variants[name]}]{cut}" for name in ("precision", "recall"))


def weighted_mean(values: Sequence[float], beta: float) -> float:
    """The weighted harmonic mean of a precision and a recall, 0 if both are 0."""
    first, second = values
    weight = beta * beta
    below = weight * first + second
    return (1.0 + weight) * first * second / below if below != 0 else 0.0


def variants_of(name: str, *used_by: str) -> tuple[Decision, ...]:
    """The variants of an F-measure of that name, with the toolkits that use the defaults."""
    return (
        Decision.choice(
            f"metric.{name}.average",
            "Whose precision and recall are joined?",
            Option("users", f"those of each list; {_TITLES[name]} is then averaged", used_by=used_by),
            Option("means", "the averages over all users"),
        ),
        Decision.choice(
            f"metric.{name}.precision",
            "By what are the hits divided for precision?",
            Option("k", "k, however short the list is", used_by=used_by),
            Option("list", "min(k, length of the list)"),
            Option("min-relevant", "min(k, relevant items)"),
        ),
        Decision.choice(
            f"metric.{name}.recall",
            "By what are the hits divided for recall?",
            Option("relevant", "all relevant items", used_by=used_by),
            Option("min-relevant", "min(k, relevant items)"),
        ),
    )


_TITLES = {"f1": "F1", "f-beta": "F-beta"}
