"""Area under the ROC curve: how often a relevant item stands above a negative one.

    AUC = pairs of a relevant and a negative item in which the relevant one is higher / all such pairs

``ties`` says what a pair with equal scores counts: ``half``, nothing (``none``), or what the tie rule makes of it
(``order``; its expectation over all orders is ``half``). ``negatives`` are the non-relevant items of the list
(``candidates``), the held-out items that are not relevant (``judged``), or all items but the relevant ones
(``catalogue``, training items included). ``weight=positives`` weighs users by their relevant items.

With a cut-off, items below it count as not listed; those listed stand above those that are not. A pair of two items
that are not listed counts 0 (``unlisted=below``) or half (``spread``: the relevant ones are spread evenly over what is
below the list). ``unlisted=left-out`` leaves out relevant items that the list, cut or not, does not rank at all. With
a cut-off and negatives of the catalogue, a list of fewer than k items counts as filled up with wrong ones.

An empty list counts 0, unless ``spread`` says otherwise. A list without relevant items is undefined, and so is one
without negatives, for which ``average.no_negatives`` says what counts. If tied items share a rank and there is a
cut-off, lists count as they are shown; ``ties=order`` is refused for shared ranks, which have none.

Hanley & McNeil, The meaning and use of the area under a receiver operating characteristic curve, Radiology 1982;
Rendle et al., BPR: Bayesian personalized ranking from implicit feedback, UAI 2009.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import NO_NEGATIVES, NO_RELEVANT, NONE_LISTED, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT, ByVariant, shares_ranks
from repro.evaluation.metrics.shared.hits import limit, listed_relevant, n_negatives
from repro.evaluation.metrics.shared.kernels import compiled, tie_group
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Decision, Option, Protocol

_BY_ORDER = -1.0
_OF_A_TIE = {"half": 0.5, "none": 0.0, "order": _BY_ORDER}


class PairRules(NamedTuple):
    """The items of each list, and what a pair counts.

    Down to the cut-off ``k`` an item is *listed*; a listed item stands above every one that is not.

    positives, negatives  how many relevant and negative items each list has
    places    how many items of each list are listed
    judged    whether only hits that are not relevant are negatives
    tie       what a pair of listed items with the same score counts; if negative, the order decides
    unlisted  what a pair of two items counts that are not listed
    """

    positives: FloatArray
    negatives: FloatArray
    places: FloatArray
    judged: bool
    k: int
    tie: float
    unlisted: float


def area_under_roc(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The pairs of each list that have the relevant item above the negative one, over all pairs."""
    negatives = n_negatives(ranked, str(variants["negatives"]), background)
    positives = ranked.n_relevant.astype(np.float64)
    if variants["unlisted"] == "left-out":
        positives = listed_relevant(ranked)
    won = _pairs_won(ranked, k, variants, positives, negatives)
    no_pairs = (ranked.lengths == 0) & (ranked.n_relevant > 0) & (positives * negatives == 0)
    positives = np.where(no_pairs, ranked.n_relevant, positives)
    negatives = np.where(no_pairs, 1.0, negatives)
    if variants["weight"] == "positives":
        won, pairs = won / np.maximum(negatives, 1.0), np.where(negatives > 0, positives, 0.0)
    else:
        pairs = positives * negatives
    why = np.where(positives > 0, NO_NEGATIVES, np.where(ranked.n_relevant > 0, NONE_LISTED, NO_RELEVANT))
    return Ratio(np.where(pairs > 0, won, why), pairs)


def _of_empty_list(variants: Variants) -> float:
    return 0.5 if variants["unlisted"] == "spread" and variants["negatives"] != "candidates" else 0.0


def _pairs_won(
    ranked: Ranked, k: int | None, variants: Variants, positives: FloatArray, negatives: FloatArray
) -> FloatArray:
    """The (expected) number of pairs with the relevant item above the negative one."""
    places = np.minimum(ranked.lengths, limit(k)).astype(np.float64)
    if variants["negatives"] == "catalogue" and k is not None:
        places = np.full(len(ranked), float(k))
    tie = _OF_A_TIE[str(variants["ties"])]
    if tie == _BY_ORDER and ranked.ties == "expected":
        tie = 0.5
    unlisted = 0.5 if variants["unlisted"] == "spread" else 0.0
    rules = PairRules(positives, negatives, places, variants["negatives"] == "judged", limit(k), tie, unlisted)
    hits = ranked.above, ranked.tied, ranked.relevant, rules
    if ranked.ties == "expected":
        return expected_pairs_won(ranked.offsets, *hits)
    return pairs_won(ranked.offsets, ranked.position, *hits)


@compiled
def pairs_won(offsets: Any, position: Any, above: Any, tied: Any, relevant: Any, rules: Any) -> Any:
    """The pairs that each list wins, items being listed by ``position``."""
    positives, negatives, places, judged, k, tie, unlisted = rules
    won = np.zeros(len(offsets) - 1)
    for n in range(len(won)):
        total = 0.0
        good, bad = 0, 0  # listed hits that are relevant, and judged ones that are not
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 <= above[hit] < k:
            stop, a, t, r = tie_group(above, tied, relevant, hit, end)
            last = stop
            while last > hit and position[last - 1] > k:
                last -= 1  # the rest of a group that lies across the cut-off
                r -= relevant[last]
            before = bad if judged else a - good
            level = last - hit - r if judged else min(t, k - a) - r
            total += r * (negatives[n] - before - level)
            if tie >= 0:
                total += tie * (r * level)
            else:
                total += pairs_in_order(position, relevant, hit, last, a, level, judged)
            good += r
            bad += last - hit - r
            hit = stop
        seen = bad if judged else places[n] - good
        total += unlisted * ((positives[n] - good) * max(negatives[n] - seen, 0.0))
        won[n] = total
    return won


@compiled
def pairs_in_order(position: Any, relevant: Any, hit: Any, last: Any, a: Any, level: Any, judged: bool) -> Any:
    """The pairs of a tie group's listed hits and ``level`` listed negatives in which the relevant item is first."""
    won = 0.0
    good, bad = 0, 0
    for member in range(hit, last):
        if relevant[member]:
            won += level - (bad if judged else position[member] - a - 1 - good)
            good += 1
        else:
            bad += 1
    return won


@compiled
def expected_pairs_won(offsets: Any, above: Any, tied: Any, relevant: Any, rules: Any) -> Any:
    """E[pairs that each list wins] over all orders of tied items.

    Only the group that lies across the cut-off, ``m`` of whose ``t`` places are within, has items that are listed
    at random: each with probability m/t, two of them with probability m(m-1) / t(t-1).
    """
    positives, negatives, places, judged, k, tie, unlisted = rules
    won = np.zeros(len(offsets) - 1)
    for n in range(len(won)):
        total = 0.0
        good, bad = 0, 0
        straddled = False
        out = 0.0  # pairs of two items that are not listed, on average
        hit, end = offsets[n], offsets[n + 1]
        while hit < end and 0 <= above[hit] < k:
            last, a, t, r = tie_group(above, tied, relevant, hit, end)
            q = last - hit - r if judged else t - r
            m = min(t, k - a)
            listed = m / t
            both = m / t * ((m - 1) / (t - 1)) if t > 1 else 0.0
            first_only = m / t * ((t - m) / (t - 1)) if t > 1 else 0.0
            below = negatives[n] - (bad if judged else a - good)
            total += r * listed * (below - q) + r * q * (first_only + tie * both)
            if m < t:
                straddled = True
                left = positives[n] - good
                out = left * below - left * (q * listed) - below * (r * listed) + r * q * both
            good += r
            bad += q
            hit = last
        if not straddled:
            seen = bad if judged else places[n] - good
            out = (positives[n] - good) * max(negatives[n] - seen, 0.0)
        won[n] = total + unlisted * out
    return won


def _objection(variants: Variants, protocol: Protocol) -> str:
    if variants["ties"] == "order" and shares_ranks(protocol):
        return (
            f'ties = "order" counts equal scores as the tie rule orders them, and ties.break = '
            f'"{protocol["ties.break"]}" does not; use ties = "half" or "none", or a tie rule that gives one order'
        )
    return ""


METRIC = RankingMetric(
    "auc",
    "Area under the ROC curve",
    area_under_roc,
    cutoff="optional",
    variants=(
        Decision.choice(
            "metric.auc.ties",
            "What does a pair with equal scores count?",
            Option("half", "one half", cite="Hanley & McNeil 1982", used_by=("recbole", "scikit-learn")),
            Option("none", "nothing", used_by=("cornac",)),
            Option("order", "what the tie rule makes of it", used_by=("implicit",)),
        ),
        Decision.choice(
            "metric.auc.negatives",
            "Above which items should relevant ones stand?",
            Option("candidates", "all others of the list", used_by=("recbole", "cornac")),
            Option("judged", "held-out items that are not relevant"),
            Option("catalogue", "all others of the catalogue, training items included", used_by=("implicit",)),
        ),
        Decision.choice(
            "metric.auc.unlisted",
            "Where does a relevant item stand that is not in the list?",
            Option("below", "below everything"),
            Option("spread", "anywhere below the list: half of what is there is lower", used_by=("implicit",)),
            Option("left-out", "nowhere: it is left out"),
        ),
        Decision.choice(
            "metric.auc.weight",
            "How much does a user count?",
            Option("users", "as the protocol averages"),
            Option("positives", "as much as it has relevant items", used_by=("recbole",)),
        ),
    ),
    needs=("catalogue",),
    whole_list=True,
    empty=_of_empty_list,
    negatives=True,
    objection=_objection,
    pooled=ByVariant("weight", {"positives": True}, False),
    range=UNIT,
    tie_order=RELEVANT_FIRST,
    aliases={"roc-auc": {}, "auc-roc": {}, "gauc": {"weight": "positives"}},
    task="recommend all good items",
    shows="how often a good item comes before another; all ranks count alike, so it says little about the first page",
    cite="Hanley & McNeil 1982",
)
