"""Lists as they are shown: what the metrics share that count every recommended item, relevant or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.background import Background, EarlierLists
from repro.evaluation.metrics.metric import CollectionMetric, Compute, Ranked, RankingMetric, Variants
from repro.evaluation.metrics.shared.declarations import UNIT
from repro.evaluation.metrics.shared.hits import list_lengths, slots
from repro.evaluation.metrics.shared.kernels import compiled
from repro.protocol import Decision, Option, Protocol


def refuse_expected(variants: Variants, protocol: Protocol) -> str:
    """The objection of a metric that must know which items are listed: not all tied ones are stored."""
    if protocol["ties.break"] == "expected":
        return (
            'with ties.break = "expected" a list has no first k items; use a tie rule that gives one order, '
            'such as "item-asc" or "random"'
        )
    return ""


def shown(ranked: Ranked, k: int | None) -> npt.NDArray[np.int32]:
    """Lists by places down to ``k``: the item codes, -1 beyond the end of a list."""
    return np.ascontiguousarray(ranked.items[:, :k])


def recommended_items(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    """The number of lists of the block that have each item down to ``k``."""
    listed = shown(ranked, k)
    return np.bincount(listed[listed >= 0], minlength=background.n_items).astype(np.float64)


def item_counts_metric(
    name: str, title: str, finish: Callable[[FloatArray, Variants, Background], float], **declared: Any
) -> CollectionMetric:
    """A metric of how often each item is recommended."""
    return CollectionMetric(
        name,
        title,
        **{"compute": recommended_items, "range": UNIT, **declared},
        finish=finish,
        cutoff="required",
        objection=refuse_expected,
        tie_order=(
            "the value depends on the tied items of all lists together, and no search through their orders is feasible"
        ),
    )


def denominator_decision(metric: str, default: str) -> Decision:
    """Whether a list of fewer than k items is divided by k or by its length."""
    return Decision.choice(
        f"metric.{metric}.denominator",
        "By what is the sum over a list divided?",
        Option("list", "min(k, length of the list)"),
        Option("k", "k, however short the list is"),
        default=default,
    )


def places(ranked: Ranked, k: int | None, variants: Variants) -> FloatArray:
    """The places of each list, by its ``denominator``; an empty list counts as one place."""
    return slots(ranked, k) if variants["denominator"] == "k" else list_lengths(ranked, k)


@compiled
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


def new_items(ranked: Ranked, k: int | None, earlier: Sequence[EarlierLists]) -> tuple[FloatArray, FloatArray]:
    """The number of items of each list down to ``k`` that are in no earlier list of the user down to ``k``.

    And 1 if the user has an earlier list, 0 if there is nothing to compare with.
    """
    items = shown(ranked, k)
    new, compared = np.zeros(len(ranked)), np.zeros(len(ranked))
    for n, user in enumerate(ranked.users.tolist()):
        lists = [lists[user][:k] for lists in earlier if len(lists.get(user, ()))]
        if lists:
            row = items[n]
            new[n] = np.count_nonzero(~np.isin(row[row >= 0], np.concatenate(lists)))
            compared[n] = 1.0
    return new, compared


def temporal_metric(name: str, title: str, compute: Compute, **declared: Any) -> RankingMetric:
    """A metric that compares lists with earlier ones."""
    return RankingMetric(
        name,
        title,
        compute,
        cutoff="required",
        variants=(denominator_decision(name, "k"),),
        needs=("previous",),
        undefined="left-out",
        objection=refuse_expected,
        range=UNIT,
        tie_order="earlier lists can have tied items too, and the value depends on the order of both",
        cite="Lathia et al. 2010",
        **declared,
    )
