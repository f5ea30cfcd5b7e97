"""Rank-biased precision: the gain of a reader who goes on to the next item with probability p.

    RBP@k = (1 - p) * sum of p^(rank - 1) over the relevant items at ranks down to k

``gain`` lets grades count in place of relevance (``linear``). RBP does not reach 1 with a finite number of
relevant items; ``ideal`` divides it by the highest value that min(k, relevant) items could have (``min``), or as
many of them as the list is long (``list``).

An empty list counts 0. A list without relevant items (with grades: none of whose held-out items has one above 0)
is undefined. A list of fewer than k items is judged by the items that it has. Without a cut-off the whole list
counts.

Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 2008.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics._hits import discounted_gains, limit, list_lengths
from repro.evaluation.metrics._kernels import ideal_sums
from repro.evaluation.metrics._places import discounts
from repro.evaluation.metrics._ranges import UNIT, shares_ranks
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import Range, RankingMetric, Ratio
from repro.evaluation.metrics.tie_order import ByHits
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Decision, Option, Protocol, Value


def rank_biased_precision(
    ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background
) -> Ratio:
    """The (expected) rank-biased precision of each list, over the highest one where that is asked for."""
    p = float(variants["p"])
    gains = _gains(ranked, variants)
    depths = np.minimum(np.diff(ranked.offsets), limit(k))
    if variants["ideal"] == "list":
        depths = np.minimum(depths, list_lengths(ranked, k).astype(np.int64))
    best = ideal_sums(ranked.offsets, gains, depths, discounts("geometric", p, int(depths.max(initial=1))), False)
    found = discounted_gains(ranked, limit(k), gains, "geometric", p)
    if variants["ideal"] != "none":
        return Ratio(found, best)
    return Ratio((1.0 - p) * found, (best > 0).astype(np.float64))


def _gains(ranked: Ranked, variants: Mapping[str, Value]) -> FloatArray:
    return ranked.relevant_gains if variants["gain"] == "binary" else ranked.linear_gains


def _range(k: int | None, variants: Mapping[str, Value], protocol: Protocol) -> Range:
    """Without an ideal, k relevant items in front give 1 - p^k; grades, and items that share a rank, have no bound."""
    if shares_ranks(protocol) or (variants["gain"] == "linear" and variants["ideal"] == "none"):
        return 0.0, math.inf
    return UNIT if k is None or variants["ideal"] != "none" else (0.0, 1.0 - float(variants["p"]) ** k)


def _worth(ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background) -> FloatArray:
    return _gains(ranked, variants)


METRIC = RankingMetric(
    name="rbp",
    title="Rank-biased precision",
    compute=rank_biased_precision,
    cutoff="optional",
    variants=(
        Decision(
            "metric.rbp.p",
            "With which probability does the reader go on to the next item (persistence)?",
            "number",
            default=0.8,
            typical=(0.5, 0.8, 0.85, 0.9, 0.95),
            minimum=0.0,
            maximum=0.999999,
            cite="Moffat & Zobel 2008",
        ),
        Decision(
            "metric.rbp.gain",
            "What is an item worth?",
            options=(
                Option("binary", "1 where it is relevant", used_by=("lenskit",)),
                Option("linear", "its grade", used_by=("ranx",)),
            ),
            default="binary",
        ),
        Decision(
            "metric.rbp.ideal",
            "By what is it divided?",
            options=(
                Option("none", "by nothing", used_by=("lenskit", "ranx")),
                Option("min", "by that of the best min(k, relevant) items"),
                Option("list", "by that of the best min(k, relevant, length of the list) items", used_by=("lenskit",)),
            ),
            default="none",
        ),
    ),
    range=_range,
    tie_order=ByHits(_worth),
    cite="Moffat & Zobel 2008",
)
