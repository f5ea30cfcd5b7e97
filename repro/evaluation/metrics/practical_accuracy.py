"""Practical accuracy: the accuracy for the users who get recommendations, times the share of users who do.

    practical-accuracy@k = (mean accuracy@k of the users with a list) * user-coverage[counts=listed]@k

The accuracy is nDCG, precision, recall, AP, hit rate or RR, with the variants that the protocol gives it. A
recommender that is accurate for few users has a lower value than one that serves all users, and one that fills lists
up with guesses gains coverage and loses accuracy.

A user with an empty list counts in the coverage only. It needs ``average.no_list = "skip"``: with "zero" such a user
counts 0 in the accuracy, which multiplies it by the share of covered users already, and would count coverage twice.
Lists without relevant items count in the accuracy as ``average.no_relevant`` says, and in the coverage like all
others. A list of fewer than k items covers its user. Tie rules are those of the accuracy.

Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 2004.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn

from repro.evaluation.metrics.metric import RankingMetric, Variants
from repro.evaluation.metrics.shared.declarations import UNIT_AT_SINGLE_RANKS
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST
from repro.protocol import Decision, Option, Protocol


def factors(k: int | None, variants: Variants) -> tuple[str, ...]:
    """The two measures whose product it is."""
    return f"{variants['of']}@{k}", f"user-coverage[counts=listed]@{k}"


def computed_by_its_factors(*_: object) -> NoReturn:
    """There is nothing to compute of lists: the number is made of those of :func:`factors`."""
    raise AssertionError("practical accuracy is made of the numbers of other measures")


def _objection(variants: Variants, protocol: Protocol) -> str:
    if protocol["average.no_list"] != "zero":
        return ""
    return (
        f'average.no_list = "zero" counts users without a list as 0, so that {variants["of"]} is accuracy times '
        f"coverage already, and the product would count coverage twice; ask for {variants['of']} itself, or use "
        'average.no_list = "skip"'
    )


def product(values: Sequence[float], variants: Variants) -> float:
    """The product of accuracy and coverage."""
    return math.prod(values)


METRIC = RankingMetric(
    "practical-accuracy",
    "Practical accuracy (accuracy times user coverage)",
    computed_by_its_factors,
    cutoff="required",
    variants=(
        Decision.choice(
            "metric.practical-accuracy.of",
            "Which accuracy?",
            Option("ndcg", "nDCG"),
            Option("precision", "precision"),
            Option("recall", "recall"),
            Option("ap", "average precision"),
            Option("hit", "hit rate"),
            Option("rr", "reciprocal rank"),
        ),
    ),
    parts=factors,
    join=product,
    objection=_objection,
    range=UNIT_AT_SINGLE_RANKS,
    tie_order=RELEVANT_FIRST,
    not_audited="it is the product of two others; audit these",
    task="recommend some good items",
    shows="accuracy where users without recommendations count as well",
    cite="Herlocker et al. 2004",
)
