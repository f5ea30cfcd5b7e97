"""Rank-biased precision: the gain of a reader who goes on to the next item with probability p.

    RBP@k = (1 - p) * sum of p^(rank - 1) over the relevant items at ranks down to k

``gain`` lets grades count in place of relevance (``linear``). RBP does not reach 1 with a finite number of relevant
items; ``ideal`` divides it by the highest value that min(k, relevant) items could have (``min``), or as many of them
as the list is long (``list``).

An empty list counts 0. A list without relevant items (with grades: none of whose held-out items has one above 0) is
undefined. A list of fewer than k items is judged by the items that it has. Without a cut-off the whole list counts.

Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 2008.
"""

from __future__ import annotations

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Range, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import NOT_NEGATIVE, UNIT, shares_ranks
from repro.evaluation.metrics.shared.hits import discounted_gains, ideal_gains, limit, list_lengths
from repro.evaluation.metrics.tie_order import ByHits
from repro.protocol import Decision, Option, Protocol


def rank_biased_precision(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The (expected) rank-biased precision of each list, over the highest one unless ``ideal=none``."""
    p = float(variants["p"])
    gains = _gains(ranked, k, variants, background)
    depths = np.minimum(np.diff(ranked.offsets), limit(k))
    if variants["ideal"] == "list":
        depths = np.minimum(depths, list_lengths(ranked, k).astype(np.int64))
    best = ideal_gains(ranked, depths, gains, "geometric", p)
    total = discounted_gains(ranked, limit(k), gains, "geometric", p)
    if variants["ideal"] != "none":
        return Ratio(total, best)
    return Ratio((1.0 - p) * total, (best > 0).astype(np.float64))


def _gains(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    return ranked.relevant_gains if variants["gain"] == "binary" else ranked.linear_gains


def _range(k: int | None, variants: Variants, protocol: Protocol) -> Range:
    """Without an ideal, k relevant items in front give 1 - p^k; grades, and items that share a rank, have no bound."""
    if shares_ranks(protocol) or (variants["gain"] == "linear" and variants["ideal"] == "none"):
        return NOT_NEGATIVE
    return UNIT if k is None or variants["ideal"] != "none" else (0.0, 1.0 - float(variants["p"]) ** k)


METRIC = RankingMetric(
    "rbp",
    "Rank-biased precision",
    rank_biased_precision,
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
        Decision.choice(
            "metric.rbp.gain",
            "What is an item worth?",
            Option("binary", "1 where it is relevant", used_by=("lenskit",)),
            Option("linear", "its grade", used_by=("ranx",)),
        ),
        Decision.choice(
            "metric.rbp.ideal",
            "By what is it divided?",
            Option("none", "by nothing", used_by=("lenskit", "ranx")),
            Option("min", "by that of the best min(k, relevant) items"),
            Option("list", "by that of the best min(k, relevant, length of the list) items", used_by=("lenskit",)),
        ),
    ),
    range=_range,
    tie_order=ByHits(_gains),
    aliases={"rank-biased-precision": {}},
    task="optimise utility",
    shows="the value of a list to users who go on to the next item with a fixed probability",
    cite="Moffat & Zobel 2008",
)
