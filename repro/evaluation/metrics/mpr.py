"""Mean percentile rank: how far down the list the relevant items stand, in per cent.

    percentile = 100 * (rank - 1) / (n - 1);  MPR = mean percentile of the relevant items of a list of n items

0 is the best value, 100 the worst, and 50 that of chance. ``percentile=share`` has 100 * rank / n instead, and
``percentile=catalogue`` 100 * (rank - 1) / the number of items of the base catalogue, however long the list is.
``weight=rating`` weighs each item by its rating (one below 0 weighs nothing); ``join=pairs`` averages over all pairs
of a user and a relevant item in place of the users. Hu et al. use both. ``candidates.*`` decides what n is, such as
1,000 sampled items and a relevant one.

Relevant items that are not in the list, all of them if it is empty, count as its last (100), are left out
(``unlisted=left-out``), or stand half-way between the last listed item and 100, as items in random order below the
list would (``unlisted=half-way``; 50 if it is empty). A list without relevant items is undefined. A short list is as
good as a long one, unless percentiles are of the catalogue: there is no cut-off, no first k items, and the only item
of a list of one counts 50. Under ``ties.break = "expected"`` the rank of an item is the mean one of its ties.

Hu, Koren & Volinsky, Collaborative filtering for implicit feedback datasets, ICDM 2008.
"""

from __future__ import annotations

import math

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import NO_RELEVANT, NONE_LISTED, Need, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import ByVariant
from repro.evaluation.metrics.shared.kernels import list_sums
from repro.evaluation.metrics.tie_order import ByHits
from repro.protocol import Decision, Option


def mean_percentile_rank(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The weighted sum of the percentiles of each list's relevant items over the sum of the weights."""
    weights = _weights(ranked, variants, background)
    percentiles = _percentiles(ranked, str(variants["percentile"]), str(variants["unlisted"]), background)
    total = list_sums(ranked.offsets, weights)
    left_out = (ranked.n_relevant > 0) & (variants["unlisted"] == "left-out")
    why = np.where(left_out, NONE_LISTED, NO_RELEVANT)
    return Ratio(np.where(total > 0, list_sums(ranked.offsets, weights * percentiles), why), total)


def _weights(ranked: Ranked, variants: Variants, background: Background) -> FloatArray:
    """The weight of each held-out item."""
    weights = ranked.relevant_gains
    if variants["weight"] == "rating":
        weights = weights * np.maximum(background.ratings_of_hits(ranked), 0.0)
    return np.where(ranked.above >= 0, weights, 0.0) if variants["unlisted"] == "left-out" else weights


def _percentiles(ranked: Ranked, definition: str, unlisted: str, background: Background) -> FloatArray:
    """The position of each relevant item in its list, in per cent of the list."""
    length = np.repeat(ranked.lengths, np.diff(ranked.offsets)).astype(np.float64)
    ranks = ranked.above + (ranked.tied + 1) / 2 if ranked.ties == "expected" else ranked.doubled_ranks / 2

    def percentile(rank: FloatArray) -> FloatArray:
        if definition == "share":
            return 100.0 * rank / np.maximum(length, 1.0)
        if definition == "catalogue":
            return 100.0 * (rank - 1.0) / max(len(background.catalogue), 1)
        return np.where(length > 1, 100.0 * (rank - 1.0) / np.maximum(length - 1.0, 1.0), 50.0)

    below = np.full(len(length), 100.0)
    if unlisted == "half-way":
        below = (np.where(length > 0, percentile(length), 0.0) + 100.0) / 2.0
    return np.where(ranked.above >= 0, percentile(ranks), below)


def _also_needs(variants: Variants) -> tuple[Need, ...]:
    ratings: tuple[Need, ...] = ("ratings",) if variants["weight"] == "rating" else ()
    return (*ratings, "catalogue") if variants["percentile"] == "catalogue" else ratings


def _worth(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    """The highest percentiles have heavy items last."""
    return -_weights(ranked, variants, background)


METRIC = RankingMetric(
    "mpr",
    "Mean percentile rank",
    mean_percentile_rank,
    variants=(
        Decision.choice(
            "metric.mpr.percentile",
            "What is the percentile of an item at a rank in a list of n?",
            Option("distance", "100 * (rank - 1) / (n - 1): from 0 to 100", cite="Hu et al. 2008"),
            Option("share", "100 * rank / n: what of the list has been seen with it"),
            Option(
                "catalogue",
                "100 * (rank - 1) / items of the base catalogue, however long the list is",
                used_by=("recpack",),
            ),
        ),
        Decision.choice(
            "metric.mpr.weight",
            "How much does an item count?",
            Option("none", "all the same"),
            Option("rating", "as much as its rating", cite="Hu et al. 2008"),
        ),
        Decision.choice(
            "metric.mpr.join",
            "How are users joined?",
            Option("users", "the mean of each, averaged as the protocol says"),
            Option("pairs", "all relevant items of all users together", cite="Hu et al. 2008"),
        ),
        Decision.choice(
            "metric.mpr.unlisted",
            "What does a relevant item count that is not in the list?",
            Option("last", "100, as the last one of the list"),
            Option("left-out", "nothing"),
            Option(
                "half-way",
                "half-way between the last one of the list and 100; 50 where it is empty",
                used_by=("recpack",),
            ),
        ),
    ),
    needs=("test",),
    also_needs=_also_needs,
    empty=ByVariant("unlisted", {"last": 100.0, "half-way": 50.0}, math.nan),
    pooled=ByVariant("join", {"pairs": True}, False),
    better="lower",
    range=(0.0, 100.0),
    tie_order=ByHits(_worth),
    aliases={"mean-percentile-rank": {}},
    task="recommend all good items",
    shows="how far from the top good items are in a ranking of everything; all ranks count alike",
    cite="Hu et al. 2008",
)
