"""The order of tied items that gives a metric its highest or its lowest value (``ties.break = "best"``, ``"worst"``).

A metric states what an item is *worth*. Among tied items, descending worth gives its highest value and ascending worth
its lowest, list by list; each metric's file says why. For a sum of worth times a discount that never grows with the
rank, that is the rearrangement inequality.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from numba import njit

from repro.data.interactions import FloatArray
from repro.errors import DataError
from repro.metrics.background import Background
from repro.protocol import Value
from repro.ranking.ranked import Ranked

Places = npt.NDArray[np.intp]
Variants = Mapping[str, Value]
WorthOfHits = Callable[[Ranked, int | None, Variants, Background], FloatArray]
WorthOfItems = Callable[[Ranked, Places, Places, Variants, Background], FloatArray]
Extreme = Literal["highest", "lowest"]


@dataclass(frozen=True)
class ByHits:
    """``worth(ranked, k, variants, background)`` is what each hit is worth; an item that is not held out, 0.

    ``k`` is the cut-off. Where hits are worth the same, and where they are worth 0, their order has no effect.
    """

    worth: WorthOfHits


@dataclass(frozen=True)
class ByItems:
    """``worth(ranked, lists, places, variants, background)`` is what the items in these places are worth.

    For metrics that count every listed item. Lists must be ranked to the end, with their scores.
    """

    worth: WorthOfItems


@dataclass(frozen=True)
class Unaffected:
    """The order of tied items has no effect."""


TieOrder = ByHits | ByItems | Unaffected
UNAFFECTED = Unaffected()


def _relevance(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    return 2.0 * ranked.relevant_gains - 1.0


def _irrelevance(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    return 1.0 - 2.0 * ranked.relevant_gains


# Relevant items first, held-out items that are not relevant last, and all others between them; or the reverse.
RELEVANT_FIRST = ByHits(_relevance)
RELEVANT_LAST = ByHits(_irrelevance)


def in_extreme_order(
    ranked: Ranked,
    order: TieOrder,
    extreme: Extreme,
    k: int | None,
    variants: Variants,
    background: Background,
) -> Ranked:
    """The lists with their tied items in the order that gives the extreme value, whatever order they had."""
    sign = 1.0 if extreme == "highest" else -1.0
    match order:
        case ByHits(worth):
            return with_hits_by(ranked, sign * worth(ranked, k, variants, background))
        case ByItems(worth_of_items):
            return _with_items_by(ranked, worth_of_items, sign, k, variants, background)
        case _:
            return replace(ranked, ties="definite")


def with_hits_by(ranked: Ranked, worth: FloatArray) -> Ranked:
    """The lists with tied hits in descending order of worth, and items that are not held out as if worth 0.

    Only hits get new places: ``items`` stays as it is.
    """
    order, position = _hits_in_order(ranked.offsets, ranked.above, ranked.tied, worth)
    return replace(
        ranked,
        ties="definite",
        hit_items=ranked.hit_items[order],
        relevant=ranked.relevant[order],
        grades=ranked.grades[order],
        above=ranked.above[order],
        tied=ranked.tied[order],
        position=position,
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _hits_in_order(offsets: Any, above: Any, tied: Any, worth: Any) -> Any:
    """The hits in their new order, and the place of each. Tie groups stand together; unranked hits stay behind."""
    order = np.arange(len(above))
    position = np.zeros(len(above), np.int32)
    for n in range(len(offsets) - 1):
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and above[hit] >= 0:
            last = hit + 1
            while last < end and above[last] == above[hit]:
                last += 1
            if last - hit > 1:
                order[hit:last] = hit + np.argsort(-worth[hit:last], kind="mergesort")
            place = above[hit]
            for at in range(hit, last):
                if worth[order[at]] < 0:
                    break
                place += 1
                position[at] = place
            place = above[hit] + tied[hit]
            for at in range(last - 1, hit - 1, -1):
                if worth[order[at]] >= 0:
                    break
                position[at] = place
                place -= 1
            hit = last
    return order, position


def _with_items_by(
    ranked: Ranked, worth: WorthOfItems, sign: float, k: int | None, variants: Variants, background: Background
) -> Ranked:
    """The lists with tied items in descending (ascending) order of worth, down to the end of the group across ``k``.

    Only ``items`` and ``scored`` get new places: hits stay as they are.
    """
    if ranked.scores is None:
        raise DataError(
            "which items are tied is seen by their scores, and the recommendations have ranks only; give a column "
            "'score', or use a tie rule that gives one order, such as \"item-asc\""
        )
    starts = _group_starts(ranked.items, ranked.scores)
    depth = ranked.items.shape[1] if k is None else k
    lists, places = np.nonzero((ranked.items >= 0) & (starts < depth))
    of_places = sign * worth(ranked, lists, places, variants, background)
    order = np.lexsort((-of_places, starts[lists, places], lists))
    items, scored = ranked.items.copy(), ranked.scored.copy()
    items[lists, places] = ranked.items[lists[order], places[order]]
    scored[lists, places] = ranked.scored[lists[order], places[order]]
    return replace(ranked, ties="definite", items=items, scored=scored)


def _group_starts(items: npt.NDArray[np.int32], scores: FloatArray) -> npt.NDArray[np.intp]:
    """For each place the first place, from 0, with the same score."""
    new = np.ones(items.shape, dtype=np.bool_)
    new[:, 1:] = scores[:, 1:] != scores[:, :-1]
    return np.maximum.accumulate(np.where(new, np.arange(items.shape[1]), 0), axis=1)
