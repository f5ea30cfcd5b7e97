"""Expected popularity complement: how likely a user is to find something that others have not seen.

    EPC@k = (sum over ranks down to k of discount(rank) * relevance * (1 - popularity))
            / (sum over the same ranks of discount(rank))

where the popularity of an item is the share of the training users who have it.

By default every item counts the same, wherever it stands: the mean popularity complement. ``discount=log2`` weighs a
rank by 1 / log2(rank + 1); ``relevance=relevant`` counts an item only if it is relevant to the user.

An empty list counts 0. With ``relevance=relevant`` a list without relevant items is undefined; otherwise relevance has
no effect. A list of fewer than k items is divided by the discounts of the ranks that it has, or, with
``denominator=k``, of k ranks. If tied items share a rank, relevant items have it; without relevance, lists count as
they are shown. The expectation over all orders of tied items has a closed form for relevant items; of all items it
would need all tied candidates of every list, and is refused.

Vargas & Castells, Rank and relevance in novelty and diversity metrics for recommender systems, RecSys 2011.
"""

from __future__ import annotations

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Range, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT, UNIT_AT_SINGLE_RANKS
from repro.evaluation.metrics.shared.hits import defined, discounted_gains, discounts, limit
from repro.evaluation.metrics.shared.lists import denominator_decision, places, refuse_expected, shown, worth_sums
from repro.evaluation.metrics.tie_order import ByHits, ByItems, Places, TieOrder
from repro.protocol import Decision, Option, Protocol


def popularity_complement(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The discounted popularity complements of each list down to ``k`` over the discounts of its ranks."""
    kind = str(variants["discount"])
    depths = places(ranked, k, variants).astype(np.int64)
    deepest = int(depths.max(initial=1))
    until = np.concatenate([[0.0], np.cumsum(discounts(kind, 2.0, deepest)[2 : 2 * deepest + 1 : 2])])
    if variants["relevance"] == "relevant":
        gains = _of_hits(ranked, k, variants, background)
        return Ratio(discounted_gains(ranked, limit(k), gains, kind), defined(until[depths], ranked))
    items = shown(ranked, k)
    return Ratio(worth_sums(items, _unseen_share(background), discounts(kind, 2.0, items.shape[1])), until[depths])


def _objection(variants: Variants, protocol: Protocol) -> str:
    why = "" if variants["relevance"] == "relevant" else refuse_expected(variants, protocol)
    return f"{why}; use relevance = relevant" if why else ""


def _range(k: int | None, variants: Variants, protocol: Protocol) -> Range:
    return UNIT if variants["relevance"] == "none" else UNIT_AT_SINGLE_RANKS(k, variants, protocol)


def _unseen_share(background: Background) -> FloatArray:
    """The share of the training users who do not have each item."""
    return 1.0 - background.popularity / max(background.n_train_users, 1)


def _of_hits(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    return ranked.relevant_gains * _unseen_share(background)[ranked.hit_items]


def _worth(ranked: Ranked, lists: Places, places: Places, variants: Variants, background: Background) -> FloatArray:
    return _unseen_share(background)[ranked.items[lists, places]]


def _tie_order(k: int | None, variants: Variants) -> TieOrder:
    return ByHits(_of_hits) if variants["relevance"] == "relevant" else ByItems(_worth)


METRIC = RankingMetric(
    "epc",
    "Expected popularity complement",
    popularity_complement,
    cutoff="required",
    variants=(
        Decision.choice(
            "metric.epc.discount",
            "How does a place further down count less?",
            Option("none", "it does not"),
            Option("log2", "1 / log2(rank + 1)", cite="Vargas & Castells 2011", used_by=("elliot",)),
        ),
        Decision.choice(
            "metric.epc.relevance",
            "Which items count?",
            Option("none", "all, relevant or not"),
            Option("relevant", "relevant ones", cite="Vargas & Castells 2011", used_by=("elliot",)),
        ),
        denominator_decision("epc", "list"),
    ),
    needs=("train",),
    objection=_objection,
    range=_range,
    tie_order=_tie_order,
    task="beyond accuracy",
    shows="how unpopular the recommended items are, which makes discoveries likely",
    cite="Vargas & Castells 2011",
)
