"""Two orders of the same items: pairs agreed on, contradicted, tied in one of them or in both; ranks in both.

Sums are of whole numbers, so that they do not depend on the order in which items come.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from repro.data.interactions import FloatArray
from repro.evaluation.candidates.lists import Offsets
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.tie_order import UNAFFECTED, ByHits, TieOrder
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Decision, Option, Value

_compiled = njit(cache=True, nogil=True, error_model="numpy")

# Why metrics of two orders say nothing in 1R, and what to ask for instead.
UNDEFINED_IN_1R = (
    'the order of all held-out items of a user is compared; ask for it with candidates.relevant = "all", or for rr'
)


class TwoOrders(NamedTuple):
    """Items of several lists (or users): those of the ``n``-th are ``[offsets[n], offsets[n + 1])``.

    ``system`` and ``truth`` are higher for the better item, and equal where two items are tied.
    """

    offsets: Offsets
    system: npt.NDArray[np.int64] | FloatArray
    truth: FloatArray


class Pairs(NamedTuple):
    """How many pairs of each list system and truth order the same way, the other way, or not at all."""

    concordant: FloatArray
    discordant: FloatArray
    tied_by_system: FloatArray  # and ordered by the truth
    tied_by_truth: FloatArray  # and ordered by the system
    tied_by_both: FloatArray


def ties_variant(metric: str) -> Decision:
    """The decision of what equal scores are, for a metric of a list and ratings."""
    return Decision(
        f"metric.{metric}.ties",
        "Are items with equal scores tied?",
        options=(
            Option("scores", "yes: the list is a weak order, and ties.break plays no part", cite="Yao 1995"),
            Option("order", "no: they are in the order that ties.break gives"),
        ),
        default="scores",
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


def _ratings(ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background) -> FloatArray:
    return background.ratings_of_hits(ranked)


def _ratings_reversed(
    ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background
) -> FloatArray:
    return -background.ratings_of_hits(ranked)


def ratings_higher_first(k: int | None, variants: Mapping[str, Value]) -> TieOrder:
    """The order of tied items that agrees most with the ratings, where they count in an order at all."""
    return ByHits(_ratings) if variants["ties"] == "order" else UNAFFECTED


def ratings_lower_first(k: int | None, variants: Mapping[str, Value]) -> TieOrder:
    """The order of tied items that is most at odds with the ratings, where they count in an order at all."""
    return ByHits(_ratings_reversed) if variants["ties"] == "order" else UNAFFECTED


def count_pairs(orders: TwoOrders) -> Pairs:
    """The pairs of items of each list."""
    return Pairs(*_count(orders.offsets, orders.system, orders.truth))


@_compiled
def _count(offsets: Any, system: Any, truth: Any) -> Any:
    counts = np.zeros((5, len(offsets) - 1))
    for n in range(len(offsets) - 1):
        told_apart, agreed, ordered_by_system, ordered_by_truth = 0, 0, 0, 0
        size = offsets[n + 1] - offsets[n]
        for one in range(offsets[n], offsets[n + 1]):
            ours, theirs = system[one], truth[one]
            for other in range(one + 1, offsets[n + 1]):  # without branches: several pairs at a time
                by_system, by_truth = ours != system[other], theirs != truth[other]
                told_apart += by_system & by_truth
                agreed += by_system & by_truth & ((ours > system[other]) == (theirs > truth[other]))
                ordered_by_system += by_system
                ordered_by_truth += by_truth
        counts[0, n] = agreed
        counts[1, n] = told_apart - agreed
        counts[2, n] = ordered_by_truth - told_apart
        counts[3, n] = ordered_by_system - told_apart
        counts[4, n] = size * (size - 1) // 2 - ordered_by_system - ordered_by_truth + told_apart
    return counts


@_compiled
def rank_products(offsets: Any, system: Any, truth: Any) -> Any:
    """For each list the sums of x y, of x^2 and of y^2, where x and y are ranks around their mean, doubled.

    An item's doubled distance from the mean rank, with tied items sharing the mean of theirs, is the number of
    items below it minus that of items above it.
    """
    sums = np.zeros((3, len(offsets) - 1))
    for n in range(len(offsets) - 1):
        for one in range(offsets[n], offsets[n + 1]):
            x, y = 0, 0
            for other in range(offsets[n], offsets[n + 1]):
                x += int(system[one] > system[other]) - int(system[one] < system[other])
                y += int(truth[one] > truth[other]) - int(truth[one] < truth[other])
            sums[0, n] += x * y
            sums[1, n] += x * x
            sums[2, n] += y * y
    return sums
