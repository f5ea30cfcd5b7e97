"""Area under the ROC curve: how often a relevant item stands above a negative one.

    AUC = pairs of a relevant and a negative item in which the relevant one is higher / all such pairs

``ties`` says what a pair with equal scores counts: ``half``, nothing (``none``), or what the tie rule makes of it
(``order``; its expectation over all orders is ``half``). ``negatives`` are the non-relevant items of the list
(``candidates``), the held-out items that are not relevant (``judged``), or all items but the relevant ones
(``catalogue``, training items included). ``weight=positives`` weighs users by their relevant items.

With a cut-off, items below it count as not listed; those listed stand above those that are not. A pair of two
items that are not listed counts 0 (``unlisted=below``) or half (``spread``: the relevant ones are spread evenly
over what is below the list). ``unlisted=left-out`` leaves out relevant items that the list, cut or not, does not
rank at all. With a cut-off and negatives of the catalogue, a list of fewer than k items counts as filled up with
wrong ones.

An empty list counts 0, unless ``spread`` says otherwise. A list without relevant items is undefined, and so is one
without negatives, for which ``average.no_negatives`` says what counts. Where tied items share a rank and there is
a cut-off, lists count as they are shown; ``ties=order`` is refused for shared ranks, which have none.

Hanley & McNeil, The meaning and use of the area under a receiver operating characteristic curve, Radiology 1982;
Rendle et al., BPR: Bayesian personalized ranking from implicit feedback, UAI 2009.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics._hits import limit, listed_relevant, n_negatives
from repro.evaluation.metrics._pairs import expected_pairs_won, pairs_won
from repro.evaluation.metrics._ranges import UNIT
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import NO_NEGATIVES, NO_RELEVANT, NONE_LISTED, RankingMetric, Ratio
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Decision, Option, Protocol, Value

_BY_ORDER = -1.0
_OF_A_TIE = {"half": 0.5, "none": 0.0, "order": _BY_ORDER}


def area_under_roc(ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background) -> Ratio:
    """The pairs of each list that have the relevant item above the negative one, over all pairs."""
    negatives = n_negatives(ranked, str(variants["negatives"]), background)
    positives = ranked.n_relevant.astype(np.float64)
    if variants["unlisted"] == "left-out":
        positives = listed_relevant(ranked)
    won = _pairs_won(ranked, k, variants, positives, negatives)
    nothing = (ranked.lengths == 0) & (ranked.n_relevant > 0) & (positives * negatives == 0)
    positives = np.where(nothing, ranked.n_relevant, positives)
    negatives = np.where(nothing, 1.0, negatives)
    if variants["weight"] == "positives":
        won, pairs = won / np.maximum(negatives, 1.0), np.where(negatives > 0, positives, 0.0)
    else:
        pairs = positives * negatives
    why = np.where(positives > 0, NO_NEGATIVES, np.where(ranked.n_relevant > 0, NONE_LISTED, NO_RELEVANT))
    return Ratio(np.where(pairs > 0, won, why), pairs)


def _of_empty_list(variants: Mapping[str, Value]) -> float:
    return 0.5 if variants["unlisted"] == "spread" and variants["negatives"] != "candidates" else 0.0


def _pairs_won(
    ranked: Ranked, k: int | None, variants: Mapping[str, Value], positives: FloatArray, negatives: FloatArray
) -> FloatArray:
    """The (expected) number of pairs with the relevant item above the negative one."""
    judged = variants["negatives"] == "judged"
    places = np.minimum(ranked.lengths, limit(k)).astype(np.float64)
    if variants["negatives"] == "catalogue" and k is not None:
        places = np.full(len(ranked), float(k))
    tie = _OF_A_TIE[str(variants["ties"])]
    unlisted = 0.5 if variants["unlisted"] == "spread" else 0.0
    pairs = ranked.relevant, positives, negatives, places, judged, limit(k)
    won: FloatArray
    if ranked.ties == "expected":
        tie = 0.5 if tie == _BY_ORDER else tie
        won = expected_pairs_won(ranked.offsets, ranked.above, ranked.tied, *pairs, tie, unlisted)
    else:
        won = pairs_won(ranked.offsets, ranked.position, ranked.above, ranked.tied, *pairs, tie, unlisted)
    return won


def _by_positives(variants: Mapping[str, Value]) -> bool:
    return variants["weight"] == "positives"


def _objection(variants: Mapping[str, Value], protocol: Protocol) -> str:
    if variants["ties"] == "order" and protocol.text("ties.break").startswith("shared-"):
        return (
            f'ties = "order" counts equal scores as the tie rule orders them, and ties.break = '
            f'"{protocol["ties.break"]}" does not; use ties = "half" or "none", or a tie rule that gives one order'
        )
    return ""


METRIC = RankingMetric(
    name="auc",
    title="Area under the ROC curve",
    compute=area_under_roc,
    cutoff="optional",
    variants=(
        Decision(
            "metric.auc.ties",
            "What does a pair with equal scores count?",
            options=(
                Option("half", "one half", cite="Hanley & McNeil 1982", used_by=("recbole", "scikit-learn")),
                Option("none", "nothing", used_by=("cornac",)),
                Option("order", "what the tie rule makes of it", used_by=("implicit",)),
            ),
            default="half",
        ),
        Decision(
            "metric.auc.negatives",
            "Above which items should relevant ones stand?",
            options=(
                Option("candidates", "all others of the list", used_by=("recbole", "cornac")),
                Option("judged", "held-out items that are not relevant"),
                Option("catalogue", "all others of the catalogue, training items included", used_by=("implicit",)),
            ),
            default="candidates",
        ),
        Decision(
            "metric.auc.unlisted",
            "Where does a relevant item stand that is not in the list?",
            options=(
                Option("below", "below everything"),
                Option("spread", "anywhere below the list: half of what is there is lower", used_by=("implicit",)),
                Option("left-out", "nowhere: it is left out"),
            ),
            default="below",
        ),
        Decision(
            "metric.auc.weight",
            "How much does a user count?",
            options=(
                Option("users", "as the protocol averages"),
                Option("positives", "as much as it has relevant items", used_by=("recbole",)),
            ),
            default="users",
        ),
    ),
    needs=("catalogue",),
    whole_list=True,
    empty=_of_empty_list,
    negatives=True,
    objection=_objection,
    pooled=_by_positives,
    range=UNIT,
    tie_order=RELEVANT_FIRST,
    aliases={"roc-auc": {}, "auc-roc": {}, "gauc": {"weight": "positives"}},
    cite="Hanley & McNeil 1982",
)
