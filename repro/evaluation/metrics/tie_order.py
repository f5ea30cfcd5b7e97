"""The order of tied items that gives a metric its highest or its lowest value (``ties.break = "best"``, ``"worst"``).

A metric states what an item is *worth*. Among tied items, descending worth gives its highest value and ascending worth
its lowest, list by list. For a sum of worth times a discount that never grows with the
rank, that is the rearrangement inequality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import DataError
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.shared.declarations import Variants
from repro.evaluation.metrics.shared.kernels import compiled, list_sums, tie_group
from repro.evaluation.ranking.ranked import Ranked

Places = npt.NDArray[np.intp]
WorthOfHits = Callable[[Ranked, int | None, Variants, Background], FloatArray]
WorthOfItems = Callable[[Ranked, Places, Places, Variants, Background], FloatArray]
Extreme = Literal["highest", "lowest"]


@dataclass(frozen=True)
class ByHits:
    """``worth(ranked, k, variants, background)`` is what each hit is worth; an item that is not held out, 0.

    ``k`` is the cut-off. The order of hits that are worth the same, or 0, has no effect.
    """

    worth: WorthOfHits


@dataclass(frozen=True)
class ByItems:
    """``worth(ranked, lists, places, variants, background)`` is what the items in these places are worth.

    For metrics that count every listed item. Lists must be ranked to the end, with their scores.
    """

    worth: WorthOfItems


@dataclass(frozen=True)
class BySearch:
    """A search: from none to all relevant items of the tie group across the cut-off are within it.

    For metrics of relevant hits that gain if a relevant item moves up within the cut-off, or entirely below it, but
    may lose if one comes in. The denominator of a list must not depend on the order.
    """


@dataclass(frozen=True)
class Unaffected:
    """The order of tied items has no effect."""


TieOrder = ByHits | ByItems | BySearch | Unaffected
UNAFFECTED = Unaffected()


def _relevance(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    return 2.0 * ranked.relevant_gains - 1.0


def _irrelevance(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    return 1.0 - 2.0 * ranked.relevant_gains


# Relevant items first, held-out items that are not relevant last, and all others between them; or the reverse.
RELEVANT_FIRST = ByHits(_relevance)
RELEVANT_LAST = ByHits(_irrelevance)


def in_extreme_orders(
    ranked: Ranked, order: TieOrder, extreme: Extreme, k: int | None, variants: Variants, background: Background
) -> Iterator[Ranked]:
    """The lists with their tied items in orders of which one gives the extreme value of each list.

    It is a single order, unless there is a search. The orders that the lists had before have no effect.
    """
    sign = 1.0 if extreme == "highest" else -1.0
    match order:
        case ByHits(worth):
            yield with_hits_by(ranked, sign * worth(ranked, k, variants, background))
        case ByItems(worth_of_items):
            yield _with_items_by(ranked, worth_of_items, sign, k, variants, background)
        case BySearch():
            assert k is not None
            hits = ranked.offsets, ranked.above, ranked.tied, ranked.relevant
            for inside in range(_most_within(ranked, k) + 1):
                yield _with_hits_at(ranked, *_hits_inside(*hits, k, inside, extreme == "highest"))
        case _:
            yield replace(ranked, ties="definite")


def with_hits_by(ranked: Ranked, worth: FloatArray) -> Ranked:
    """The lists with tied hits in descending order of worth, and items that are not held out as if worth 0.

    Only hits get new places: ``items`` stays as it is.
    """
    return _with_hits_at(ranked, *_hits_in_order(ranked.offsets, ranked.above, ranked.tied, worth))


def _with_hits_at(ranked: Ranked, order: Places, position: npt.NDArray[np.int32]) -> Ranked:
    """The hits in another order, each at its place there."""
    columns = ("hit_items", "relevant", "grades", "above", "tied")
    moved = {name: getattr(ranked, name)[order] for name in columns}
    return replace(ranked, ties="definite", position=position, **moved)


@compiled
def _hits_in_order(offsets: Any, above: Any, tied: Any, worth: Any) -> Any:
    """The hits in their new order, and the place of each. Tie groups stand together; unranked hits stay behind."""
    order = np.arange(len(above))
    position = np.zeros(len(above), np.int32)
    for n in range(len(offsets) - 1):
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and above[hit] >= 0:
            last, a, t, _ = tie_group(above, tied, worth, hit, end)
            if last - hit > 1:
                order[hit:last] = hit + np.argsort(-worth[hit:last], kind="mergesort")
            place = a
            for at in range(hit, last):
                if worth[order[at]] < 0:
                    break
                place += 1
                position[at] = place
            place = a + t
            for at in range(last - 1, hit - 1, -1):
                if worth[order[at]] >= 0:
                    break
                position[at] = place
                place -= 1
            hit = last
    return order, position


def _most_within(ranked: Ranked, k: int) -> int:
    """The highest number of relevant items of a tie group across rank ``k`` that can be within it."""
    across = (ranked.above >= 0) & (ranked.above < k) & (k < ranked.above + ranked.tied)
    counts = list_sums(ranked.offsets, across & (ranked.relevant > 0))
    return int(np.minimum(np.repeat(counts, np.diff(ranked.offsets)), k - ranked.above)[across].max(initial=0))


@compiled
def _hits_inside(offsets: Any, above: Any, tied: Any, relevant: Any, k: int, inside: int, first: bool) -> Any:
    """The result of :func:`_hits_in_order` with relevant items first (last) in their group.

    Of a group across rank ``k``, ``inside`` relevant items, or the nearest number that there can be, are first (last)
    of those within ``k``, and the others are at the end.
    """
    order = np.arange(len(above))
    position = np.zeros(len(above), np.int32)
    for n in range(len(offsets) - 1):
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and above[hit] >= 0:
            last, a, t, good = tie_group(above, tied, relevant, hit, end)
            within = min(max(k - a, 0), t)  # places of the group down to k; all or none if it is not across
            if within == 0 or within == t:
                within, upper = t, good
            else:
                upper = min(max(inside, within - (t - good)), within, good)
            lead = 0 if first else within - upper  # places before the upper relevant items
            seen_good, seen_bad = 0, 0
            for member in range(hit, last):
                if relevant[member]:
                    seen_good += 1
                    at = lead + seen_good if seen_good <= upper else t - good + seen_good
                else:
                    seen_bad += 1
                    at = seen_bad if seen_bad <= lead else upper + seen_bad
                position[member] = a + at
            order[hit:last] = hit + np.argsort(position[hit:last], kind="mergesort")
            position[hit:last] = position[order[hit:last]]
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
            "scores show which items are tied, and the recommendations have ranks only; give a column "
            "'score', or use a tie rule that gives one order, such as \"item-asc\""
        )
    new = np.ones(ranked.items.shape, dtype=np.bool_)
    new[:, 1:] = ranked.scores[:, 1:] != ranked.scores[:, :-1]
    # For each place the first place, from 0, with the same score.
    starts = np.maximum.accumulate(np.where(new, np.arange(ranked.items.shape[1]), 0), axis=1)
    depth = ranked.items.shape[1] if k is None else k
    lists, places = np.nonzero((ranked.items >= 0) & (starts < depth))
    of_places = sign * worth(ranked, lists, places, variants, background)
    order = np.lexsort((-of_places, starts[lists, places], lists))
    items, scored = ranked.items.copy(), ranked.scored.copy()
    items[lists, places] = ranked.items[lists[order], places[order]]
    scored[lists, places] = ranked.scored[lists[order], places[order]]
    return replace(ranked, ties="definite", items=items, scored=scored)
