"""Lists as they are shown: what metrics share that count every recommended item, relevant or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from repro.data.interactions import FloatArray
from repro.evaluation.metrics._hits import list_lengths, slots
from repro.evaluation.metrics.background import Background
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Decision, Option, Protocol, Value

_compiled = njit(cache=True, nogil=True, error_model="numpy")


def refuse_expected(variants: Mapping[str, Value], protocol: Protocol) -> str:
    """The objection of a metric that must know which items are listed, and of which all tied ones are not kept."""
    if protocol["ties.break"] == "expected":
        return (
            'with ties.break = "expected" a list has no first k items; use a tie rule that gives one order, '
            'such as "item-asc" or "random"'
        )
    return ""


def no_best_order(k: int | None, variants: Mapping[str, Value]) -> str:
    """Why a metric of all lists together has no best and no worst order of tied items."""
    return "the value depends on the tied items of all lists together, and no search through their orders is feasible"


def shown(ranked: Ranked, k: int | None) -> npt.NDArray[np.int32]:
    """Lists by places down to ``k``: the item codes, -1 beyond the end of a list."""
    return np.ascontiguousarray(ranked.items[:, :k])


def recommended_items(
    ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background
) -> FloatArray:
    """How often each item is in a list of the block down to ``k``."""
    listed = shown(ranked, k)
    return np.bincount(listed[listed >= 0], minlength=background.n_items).astype(np.float64)


def denominator_decision(metric: str, default: str) -> Decision:
    """Whether a list of fewer than k items is divided by k or by its length."""
    return Decision(
        f"metric.{metric}.denominator",
        "By what is the sum over a list divided?",
        options=(
            Option("list", "min(k, length of the list)"),
            Option("k", "k, however short the list is"),
        ),
        default=default,
    )


def places(ranked: Ranked, k: int | None, variants: Mapping[str, Value]) -> FloatArray:
    """The places of each list, as its ``denominator`` has them; an empty list counts as one place."""
    return slots(ranked, k) if variants["denominator"] == "k" else list_lengths(ranked, k)


@_compiled
def worth_sums(items: Any, worth: Any, discounts: Any) -> Any:
    """For each list the sum of what its items are worth, each times the discount at its (doubled) rank."""
    sums = np.zeros(len(items))
    for n in range(len(items)):
        total = 0.0
        for place in range(items.shape[1]):
            if items[n, place] < 0:
                break
            total += worth[items[n, place]] * discounts[2 * (place + 1)]
        sums[n] = total
    return sums
