"""Expected popularity complement: how likely a user is to find something that others have not seen.

    EPC@k = (sum over ranks down to k of discount(rank) * relevance * (1 - popularity))
            / (sum over the same ranks of discount(rank))

where the popularity of an item is the share of the training users who have it.

By default every item counts the same, wherever it stands: the mean popularity complement. ``discount=log2``
weighs a rank by 1 / log2(rank + 1); ``relevance=relevant`` counts an item only if it is relevant to the user.

An empty list counts 0. With ``relevance=relevant`` a list without relevant items is undefined; otherwise relevance
plays no part. A list of fewer than k items is divided by the discounts of the ranks that it has, or, with
``denominator=k``, of k ranks. Where tied items share a rank, relevant items have it; without relevance, lists
count as they are shown. The expectation over all orders of tied items has a closed form for relevant items; of
all items it would need all tied candidates of every list, and is refused.

Vargas & Castells, Rank and relevance in novelty and diversity metrics for recommender systems, RecSys 2011.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics._hits import defined, discounted_gains, limit
from repro.evaluation.metrics._lists import denominator_decision, places, refuse_expected, shown, worth_sums
from repro.evaluation.metrics._places import discounts
from repro.evaluation.metrics._ranges import UNIT, AtSingleRanks
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import Range, RankingMetric, Ratio
from repro.evaluation.metrics.tie_order import ByHits, ByItems, Places, TieOrder
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Decision, Option, Protocol, Value


def popularity_complement(
    ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background
) -> Ratio:
    """The discounted popularity complements of each list down to ``k`` over the discounts of its ranks."""
    kind = str(variants["discount"])
    ranks = _discounts_until(places(ranked, k, variants).astype(np.int64), kind)
    if variants["relevance"] == "relevant":
        gains = _of_hits(ranked, k, variants, background)
        return Ratio(discounted_gains(ranked, limit(k), gains, kind), defined(ranks, ranked))
    items = shown(ranked, k)
    return Ratio(worth_sums(items, _unseen_share(background), discounts(kind, 2.0, items.shape[1])), ranks)


def _discounts_until(depths: np.ndarray[tuple[int, ...], np.dtype[np.int64]], kind: str) -> FloatArray:
    """The sum of the discounts of the first ranks, for each of these depths."""
    deepest = int(depths.max(initial=1))
    return np.concatenate([[0.0], np.cumsum(discounts(kind, 2.0, deepest)[2 : 2 * deepest + 1 : 2])])[depths]


def _objection(variants: Mapping[str, Value], protocol: Protocol) -> str:
    if variants["relevance"] == "relevant":
        return ""
    why = refuse_expected(variants, protocol)
    return f"{why}; use relevance = relevant" if why else ""


def _range(k: int | None, variants: Mapping[str, Value], protocol: Protocol) -> Range:
    return UNIT if variants["relevance"] == "none" else AtSingleRanks(0.0, 1.0)(k, variants, protocol)


def _unseen_share(background: Background) -> FloatArray:
    """The share of the training users who do not have each item."""
    return 1.0 - background.popularity / max(background.n_train_users, 1)


def _of_hits(ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background) -> FloatArray:
    return ranked.relevant_gains * _unseen_share(background)[ranked.hit_items]


def _of_items(
    ranked: Ranked, lists: Places, places: Places, variants: Mapping[str, Value], background: Background
) -> FloatArray:
    return _unseen_share(background)[ranked.items[lists, places]]


def _tie_order(k: int | None, variants: Mapping[str, Value]) -> TieOrder:
    return ByHits(_of_hits) if variants["relevance"] == "relevant" else ByItems(_of_items)


METRIC = RankingMetric(
    name="epc",
    title="Expected popularity complement",
    compute=popularity_complement,
    cutoff="required",
    variants=(
        Decision(
            "metric.epc.discount",
            "How does a place further down count less?",
            options=(
                Option("none", "it does not"),
                Option("log2", "1 / log2(rank + 1)", cite="Vargas & Castells 2011", used_by=("elliot",)),
            ),
            default="none",
        ),
        Decision(
            "metric.epc.relevance",
            "Which items count?",
            options=(
                Option("none", "all, relevant or not"),
                Option("relevant", "relevant ones", cite="Vargas & Castells 2011", used_by=("elliot",)),
            ),
            default="none",
        ),
        denominator_decision("epc", "list"),
    ),
    needs=("train",),
    objection=_objection,
    range=_range,
    tie_order=_tie_order,
    cite="Vargas & Castells 2011",
)
