"""Area under the precision-recall curve.

    PR-AUC = sum over the points of the curve of (recall - recall of the point before) * height

The height is the precision at the point (``interpolation=step``), or the mean of that and the precision at the point
before (``trapezoid``: straight lines, from precision 1 at recall 0, as in scikit-learn's ``auc``, although precision
does not change linearly with recall: Davis & Goadrich 2006).

``join`` says what the points are. ``pooled``: the (user, item) pairs of all lists cut at each score, equal ones
together whatever ``ties.break`` says; this compares scores of different users. ``lengths``: mean precision and mean
recall of the first n items, n = 1, 2, ...; ``users``: the curve of each list at each n, and the mean of the areas.
With steps the latter is the mean average precision, which is called ap, and refused under this name.

A user with an empty list has precision and recall 0 (pooled: adds relevant items only). One without relevant items is
left out (pooled: adds other pairs). A short list, of fewer than n items, keeps its precision and recall, as
``precision[denominator=list]``. A relevant item that is in no list is never a hit. Undefined if nothing is relevant.
If tied items share a rank no list has a first n items: only ``pooled`` is possible. The expectation over all orders of
tied items is refused for ``lengths``, where two means are multiplied that are random together.

Davis & Goadrich, The relationship between precision-recall and ROC curves, ICML 2006; Gunawardana & Shani, A survey of
accuracy evaluation metrics of recommendation tasks, JMLR 2009.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, CollectionMetric, Ranked, Variants
from repro.evaluation.metrics.shared.curves import (
    Lengths,
    Pool,
    add_places,
    join_pairs,
    objection_to_shared_ranks,
    pooled_pairs,
    tally_places,
    user_areas,
)
from repro.evaluation.metrics.shared.declarations import UNIT, ByVariant
from repro.evaluation.metrics.shared.exact import exact_mean
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST, UNAFFECTED, TieOrder
from repro.protocol import Decision, Option, Protocol


def points(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    """The data of the curve: pairs (one axis), areas of lists (two), or a tally of places (three)."""
    return {"pooled": pooled_pairs, "lengths": tally_places, "users": user_areas}[str(variants["join"])](ranked)


def join_blocks(blocks: Sequence[FloatArray]) -> FloatArray:
    """The points of all blocks; the number of their axes shows how users are joined."""
    if blocks[0].ndim == 2:
        return np.concatenate(blocks, axis=1)
    return join_pairs(blocks) if blocks[0].ndim == 1 else add_places(blocks)


def area(joined: FloatArray, variants: Variants, background: Background) -> float:
    """The area below the curve."""
    if variants["join"] == "users":
        return exact_mean(joined[0])
    curve = Pool.of(joined) if variants["join"] == "pooled" else Lengths(joined)
    return curve.precision_recall_area(variants["interpolation"] == "trapezoid")


def _objection(variants: Variants, protocol: Protocol) -> str:
    join = variants["join"]
    if join == "users" and variants["interpolation"] == "step":
        return "the mean of each user's area in steps is the mean average precision; ask for ap"
    if join == "lengths" and protocol["ties.break"] == "expected":
        return (
            'with ties.break = "expected" the mean precision and the mean recall are random together, and their '
            "products have no simple expectation; ask for ap or croc, or use a tie rule that gives one order, such "
            'as "item-asc" or "random"'
        )
    return "" if join == "pooled" else objection_to_shared_ranks(protocol)


def _tie_order(k: int | None, variants: Variants) -> TieOrder | str:
    """The curve of a list gains if a relevant item moves up; that of mean precision and recall may lose."""
    if variants["join"] == "lengths":
        return (
            'with join = "lengths" the area depends on the tied items of all lists together; ask for join = '
            '"pooled" or "users"'
        )
    return UNAFFECTED if variants["join"] == "pooled" else RELEVANT_FIRST


METRIC = CollectionMetric(
    "pr-auc",
    "Area under the precision-recall curve",
    points,
    area,
    merge=join_blocks,
    also_needs=ByVariant("join", {"pooled": ("scores",)}, ()),
    variants=(
        Decision.choice(
            "metric.pr-auc.join",
            "How are users joined?",
            Option("pooled", "the (user, item) pairs of all users in one order, by score"),
            Option("lengths", "mean precision and mean recall at each list length"),
            Option("users", "a curve for each list; the mean of their areas"),
        ),
        Decision.choice(
            "metric.pr-auc.interpolation",
            "What is between two points of the curve?",
            Option("step", "the precision of the second, as in average precision"),
            Option("trapezoid", "a straight line; from precision 1 at recall 0", cite="Davis & Goadrich 2006"),
        ),
    ),
    objection=_objection,
    range=UNIT,
    tie_order=_tie_order,
    aliases={"auprc": {}},
    task="recommend all good items",
    shows="the balance of precision and recall over all lengths of a list",
    cite="Davis & Goadrich 2006",
)
