"""Two orders of the same items: pairs that they order the same way, the other way, or that are tied; ranks in both.

Sums are of whole numbers, so that they do not depend on the order of the items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.evaluation.candidates.lists import Offsets
from repro.evaluation.metrics.metric import Background, Compute, Ranked, RankingMetric, Variants
from repro.evaluation.metrics.shared.kernels import compiled
from repro.evaluation.metrics.tie_order import UNAFFECTED, ByHits, TieOrder
from repro.protocol import Decision, Option


class TwoOrders(NamedTuple):
    """Items of several lists (or users): those of the ``n``-th are ``[offsets[n], offsets[n + 1])``.

    ``system`` and ``truth`` are higher for the better item, and equal if two items are tied.
    """

    offsets: Offsets
    system: npt.NDArray[np.int64] | FloatArray
    truth: FloatArray


class Pairs(NamedTuple):
    """The numbers of pairs of each list that system and truth order the same way, the other way, or not at all."""

    concordant: FloatArray
    discordant: FloatArray
    tied_by_system: FloatArray  # and ordered by the truth
    tied_by_truth: FloatArray  # and ordered by the system
    tied_by_both: FloatArray


@dataclass(frozen=True)
class RatingsFirst:
    """The order of tied items that agrees most (with the sign -1, least) with the ratings, if they have an order."""

    sign: float

    def __call__(self, k: int | None, variants: Variants) -> TieOrder:
        return ByHits(self.worth) if variants["ties"] == "order" else UNAFFECTED

    def worth(self, ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
        """The rating of each hit, times the sign."""
        return self.sign * background.ratings_of_hits(ranked)


def rating_order_metric(name: str, title: str, compute: Compute, **declared: Any) -> RankingMetric:
    """A metric that compares the order of a list with that of the user's ratings."""
    return RankingMetric(
        name,
        title,
        compute,
        variants=(
            Decision.choice(
                f"metric.{name}.ties",
                "Are items with equal scores tied?",
                Option("scores", "yes: the list is a weak order, and ties.break plays no part", cite="Yao 1995"),
                Option("order", "no: they are in the order that ties.break gives"),
            ),
        ),
        needs=("ratings",),
        undefined="left-out",
        tie_order=RatingsFirst(-1.0 if declared.get("better") == "lower" else 1.0),
        undefined_in_1r=(
            "the order of all held-out items of a user is compared; ask for it with candidates.relevant = "
            '"all", or for rr'
        ),
        **declared,
    )


def list_and_ratings(ranked: Ranked, ties: str, background: Background) -> TwoOrders:
    """The order of each list's held-out items by the list, and by their ratings; those not listed are left out.

    Items without a definite order, those under an expectation and those that share a rank, are tied.
    """
    in_order = ties == "order" and ranked.ties == "definite"
    ranks = ranked.position if in_order else ranked.above
    listed = ranked.position > 0
    offsets = np.concatenate([[0], np.cumsum(listed)])[ranked.offsets]
    return TwoOrders(offsets, -ranks[listed].astype(np.int64), background.ratings_of_hits(ranked)[listed])


def count_pairs(orders: TwoOrders) -> Pairs:
    """The pairs of items of each list."""
    return Pairs(*_count(*orders))


@compiled
def _count(offsets: Any, system: Any, truth: Any) -> Any:
    counts = np.zeros((5, len(offsets) - 1))
    for n in range(len(offsets) - 1):
        ordered_by_both, agreed, ordered_by_system, ordered_by_truth = 0, 0, 0, 0
        size = offsets[n + 1] - offsets[n]
        for i in range(offsets[n], offsets[n + 1]):
            score, rating = system[i], truth[i]
            for j in range(i + 1, offsets[n + 1]):  # without branches: several pairs at a time
                by_system, by_truth = score != system[j], rating != truth[j]
                ordered_by_both += by_system & by_truth
                agreed += by_system & by_truth & ((score > system[j]) == (rating > truth[j]))
                ordered_by_system += by_system
                ordered_by_truth += by_truth
        counts[0, n] = agreed
        counts[1, n] = ordered_by_both - agreed
        counts[2, n] = ordered_by_truth - ordered_by_both
        counts[3, n] = ordered_by_system - ordered_by_both
        counts[4, n] = size * (size - 1) // 2 - ordered_by_system - ordered_by_truth + ordered_by_both
    return counts


@compiled
def rank_products(offsets: Any, system: Any, truth: Any) -> Any:
    """For each list the sums of x y, of x^2 and of y^2, where x and y are ranks around their mean, doubled.

    An item's doubled distance from the mean rank, with tied items sharing the mean of theirs, is the number of
    items below it minus that of items above it.
    """
    sums = np.zeros((3, len(offsets) - 1))
    for n in range(len(offsets) - 1):
        for i in range(offsets[n], offsets[n + 1]):
            x, y = 0, 0
            for j in range(offsets[n], offsets[n + 1]):
                x += int(system[i] > system[j]) - int(system[i] < system[j])
                y += int(truth[i] > truth[j]) - int(truth[i] < truth[j])
            sums[0, n] += x * y
            sums[1, n] += x * x
            sums[2, n] += y * y
    return sums
