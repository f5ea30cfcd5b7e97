"""Half-life utility, or rank score: the value of a list for a user who looks at fewer and fewer of its items.

    R = sum over the list of max(utility - d, 0) / 2^((rank - 1) / (alpha - 1));  sum of R / sum of maximal R

The item at rank ``alpha`` is looked at with probability 1/2. The maximal R of a user is that of all held-out items in
descending order of utility. ``utility`` is the ``rating`` of a held-out item, relevant or not, or 1 for relevant items
(``binary``). Any column of the truth can replace the rating, such as a profit: ``columns={"rating": "profit"}``.
``join`` says whether users are added up before they are divided (``sums``), or each user has a ratio of its own,
averaged as the protocol says (``users``). ``scale`` says whether the number is 100 times that share, as in Breese et
al. (``hundred``), or the share itself, as in the survey of Gunawardana & Shani (``share``). The factor applies to the
value of each list, before lists are averaged; a list without a value counts what the protocol says, without the
factor.

An empty list is worth 0. A list none of whose held-out items has a utility above d, one without relevant items for
example, is undefined. A list of fewer than k items is judged by the items that it has; the maximal R is that of k
items. Without a cut-off, as it was defined, the whole list counts.

Breese, Heckerman & Kadie, Empirical analysis of predictive algorithms for collaborative filtering, UAI 1998.
"""

from __future__ import annotations

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Range, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import AtSingleRanks, ByVariant
from repro.evaluation.metrics.shared.hits import discounted_gains, ideal_gains, limit
from repro.evaluation.metrics.tie_order import ByHits
from repro.protocol import Decision, Option, Protocol


def half_life_utility(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The utility of each list over the highest one it could have, times the scale."""
    gains = _utilities(ranked, k, variants, background)
    alpha = float(variants["alpha"])
    utility = discounted_gains(ranked, limit(k), gains, "half-life", alpha)
    depths = np.minimum(np.diff(ranked.offsets), limit(k))
    return Ratio(_HIGHEST(variants) * utility, ideal_gains(ranked, depths, gains, "half-life", alpha))


_HIGHEST = ByVariant("scale", {"hundred": 100.0}, 1.0)


def _range(k: int | None, variants: Variants, protocol: Protocol) -> Range:
    return AtSingleRanks(0.0, _HIGHEST(variants))(k, variants, protocol)


def _utilities(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    """The gain of each held-out item: its utility beyond d."""
    binary = variants["utility"] == "binary"
    utility = ranked.relevant_gains if binary else background.ratings_of_hits(ranked)
    return np.maximum(utility - float(variants["d"]), 0.0)


METRIC = RankingMetric(
    "half-life",
    "Half-life utility",
    half_life_utility,
    cutoff="optional",
    variants=(
        Decision(
            "metric.half-life.alpha",
            "At which rank is an item looked at with probability 1/2?",
            "number",
            default=5.0,
            typical=(2.0, 5.0, 10.0),
            minimum=1.00001,
            cite="Breese et al. 1998",
        ),
        Decision(
            "metric.half-life.d",
            "Above which utility does an item count (Breese et al.: the neutral rating)?",
            "number",
            default=0.0,
            typical=(0.0, 3.0),
            cite="Gunawardana & Shani 2009",
        ),
        Decision.choice(
            "metric.half-life.utility",
            "What is the utility of a held-out item?",
            Option("rating", "its rating, or the column that stands for it", cite="Breese et al. 1998"),
            Option("binary", "1 where it is relevant", cite="Gunawardana & Shani 2009"),
        ),
        Decision.choice(
            "metric.half-life.join",
            "How are users joined?",
            Option("sums", "sum of their utilities / sum of the highest ones", cite="Breese et al. 1998"),
            Option("users", "utility / highest utility of each, averaged as the protocol says"),
        ),
        Decision.choice(
            "metric.half-life.scale",
            "What is the value of the best list?",
            Option("hundred", "100: the share is multiplied by 100", cite="Breese et al. 1998"),
            Option("share", "1: the share itself", cite="Gunawardana & Shani 2009"),
        ),
    ),
    needs=("test",),
    also_needs=ByVariant("utility", {"rating": ("ratings",)}, ()),
    pooled=ByVariant("join", {"sums": True}, False),
    range=_range,
    tie_order=ByHits(_utilities),
    aliases={"rank-score": {}, "half-life-utility": {}},
    task="optimise utility",
    shows="the value of a long list to users who read from the top and may stop at any item",
    cite="Breese et al. 1998",
)
