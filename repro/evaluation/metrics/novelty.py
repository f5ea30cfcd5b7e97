"""Novelty by self-information: how few users know the recommended items.

    novelty@k = (sum over the items down to k of log2(training users / users who have the item)) / items down to k

Also called mean self-information or mean inverse popularity, in bits: an item that one user in 2^b has counts b. An
item that no user has in training would be infinitely novel: it counts as if one user had it, or is left out of the sum
and of the length of the list.

An empty list counts 0 (or as ``average.no_list`` says); a list of items that are all left out is left out itself, or,
with ``denominator=k``, counts 0. A list of fewer than k items is divided by its length, or, with ``denominator=k``, by
k. Relevance has no effect. If tied items share a rank, lists count as they are shown. The expectation over all orders
of tied items is refused: it would need all tied candidates of every list.

Zhou et al., Solving the apparent diversity-accuracy dilemma of recommender systems, PNAS 2010.
"""

from __future__ import annotations

import math

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import NOT_NEGATIVE
from repro.evaluation.metrics.shared.hits import discounts, slots
from repro.evaluation.metrics.shared.lists import denominator_decision, refuse_expected, shown, worth_sums
from repro.evaluation.metrics.tie_order import ByItems, Places, TieOrder
from repro.protocol import Decision, Option


def novelty(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The self-information of each list's items down to ``k`` over the denominator."""
    items = shown(ranked, k)
    undiscounted = discounts("none", 2.0, items.shape[1])
    counted = _counted(variants, background)
    information = worth_sums(items, self_information(background) * counted, undiscounted)
    if variants["denominator"] == "k":
        return Ratio(information, slots(ranked, k))
    return Ratio(information, np.where(ranked.lengths > 0, worth_sums(items, counted, undiscounted), 1.0))


def self_information(background: Background) -> FloatArray:
    """The self-information of each item in bits; that of an item that no user has is as if one user had it."""
    users = max(background.n_train_users, 1)
    counts, which = np.unique(np.maximum(background.popularity, 1), return_inverse=True)
    # math.log2, one by one: the last bit of NumPy's vectorised logarithms may differ between processors.
    return np.array([math.log2(users / count) for count in counts.tolist()])[which]


def _counted(variants: Variants, background: Background) -> FloatArray:
    """1 for each item that counts, 0 for those that are left out."""
    unseen = (background.popularity == 0) & (variants["unseen"] == "left-out")
    return np.where(unseen, 0.0, 1.0)


def _worth(ranked: Ranked, lists: Places, places: Places, variants: Variants, background: Background) -> FloatArray:
    return (self_information(background) * _counted(variants, background))[ranked.items[lists, places]]


def _tie_order(k: int | None, variants: Variants) -> TieOrder | str:
    """Descending information; none is known if unseen items change the denominator."""
    if variants["unseen"] == "left-out" and variants["denominator"] == "list":
        return (
            'with unseen = "left-out" the order of tied items changes how many items a list is divided by; ask for '
            'denominator = "k", or for unseen = "one-user"'
        )
    return ByItems(_worth)


METRIC = RankingMetric(
    "novelty",
    "Novelty (mean self-information)",
    novelty,
    cutoff="required",
    variants=(
        Decision.choice(
            "metric.novelty.unseen",
            "What does an item count that nobody has in training?",
            Option("one-user", "as if one user had it"),
            Option("left-out", "nothing: it is left out of the list"),
        ),
        denominator_decision("novelty", "list"),
    ),
    needs=("train",),
    undefined="left-out",
    objection=refuse_expected,
    range=NOT_NEGATIVE,
    tie_order=_tie_order,
    aliases={"self-information": {}},
    task="beyond accuracy",
    shows="how little known the recommended items are; not whether they are good",
    cite="Zhou et al. 2010",
)
