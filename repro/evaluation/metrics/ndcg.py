"""Normalised discounted cumulative gain: how close the list comes to the best one possible.

    DCG@k = sum over ranks down to k of gain / discount(rank);  nDCG@k = DCG@k / DCG@k of the ideal list

Gains: 1 for relevant items (``binary``); the grade g (``linear``); 2^g - 1 (``exp2``); 2^(g - threshold + 1) - 1 for
relevant items (``exp2-threshold``). A grade below 0 gains nothing. ``relevance.grades`` says which items have grades.
Discounts: log2(rank + 1), or max(1, log_b rank) (Järvelin & Kekäläinen), or none; or ``weights`` (``discount=table``),
by which gains are multiplied: the first for rank 1, the second for rank 2, and 0 for ranks beyond the last one.

An empty list counts 0. A list none of whose held-out items has a gain is undefined. A list of fewer than k items is
compared with an ideal list that is not cut short for it, so that a missing item costs as much as a wrong one. Without
a cut-off the ideal list holds all items with a gain.

Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002; Burges et al., Learning to rank
using gradient descent, ICML 2005 (2^g - 1).
"""

from __future__ import annotations

import math

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT_AT_SINGLE_RANKS
from repro.evaluation.metrics.shared.hits import (
    Base,
    deepest,
    discounted_gains,
    discounts,
    ideal_gains,
    limit,
    slots,
)
from repro.evaluation.metrics.shared.kernels import expected_listed_shares, gain_sums, ideal_sums, list_sums
from repro.evaluation.metrics.tie_order import ByHits, BySearch, TieOrder
from repro.protocol import Decision, Option, Protocol, When
from repro.protocol.decision import weights_of


def ndcg(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The DCG of each list over that of its ideal list."""
    gains = _gains(ranked, k, variants, background)
    kind, base = _discount(variants)
    if variants["ideal"] == "listed":
        # The ideal depends on which items are listed, which may be random: the share is taken within the list.
        attainable = ideal_gains(ranked, np.diff(ranked.offsets), gains, kind, base) > 0
        return Ratio(_listed(ranked, gains, limit(k), kind, base), attainable.astype(np.float64))
    return Ratio(discounted_gains(ranked, limit(k), gains, kind, base), _ideal(ranked, gains, k, variants, kind, base))


def _discount(variants: Variants) -> tuple[str, Base]:
    """The kind of discount, and its base or its weights."""
    kind = str(variants["discount"])
    return kind, weights_of(str(variants["weights"])) if kind == "table" else float(variants.get("base", 2.0))


def _gains(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    """The gain of each held-out item."""
    match variants["gain"]:
        case "binary":
            return ranked.relevant_gains
        case "linear":
            return ranked.linear_gains
        case "exp2":
            return ranked.exponential_gains
        case _:
            worth = np.exp2(ranked.grades - float(variants["threshold"]) + 1.0) - 1.0
            return np.where(ranked.relevant > 0, np.maximum(worth, 0.0), 0.0)


def _ideal(ranked: Ranked, gains: FloatArray, k: int | None, variants: Variants, kind: str, base: Base) -> FloatArray:
    """The DCG of each list's ideal list: its best ``k`` items, all of them, or ``k`` times the best one.

    It is the same for all rankings of the same test items, and cached, unless it is as long as the list.
    """
    ideal = variants["ideal"]
    cache = None if ideal == "k" and k is None else ranked.ideals
    key = ("ndcg", k, *sorted(variants.items()))
    if cache is not None and key in cache:
        return cache[key]
    depths = np.diff(ranked.offsets)
    if ideal == "min":
        depths = np.minimum(depths, limit(k))
    elif ideal == "k":
        depths = slots(ranked, k).astype(np.int64)
    sums = ideal_gains(ranked, depths, gains, kind, base, repeat_best=ideal == "k")
    if cache is not None:
        cache[key] = sums
    return sums


def _listed(ranked: Ranked, gains: FloatArray, k: int, kind: str, base: Base) -> FloatArray:
    """The DCG of each list as a share of that of the same items, those down to ``k``, in the best order."""
    worth = discounts(kind, base, max(deepest(ranked, k), int(np.diff(ranked.offsets).max(initial=1))))
    if ranked.ties == "expected":
        return expected_listed_shares(ranked.offsets, ranked.above, ranked.tied, ranked.relevant, worth, k)
    ranks, starts = ranked.doubled_ranks, ranked.offsets[:-1]
    counts = list_sums(ranked.offsets, (ranks > 0) & (ranks <= 2 * k)).astype(np.int64)
    ideal = ideal_sums(starts, starts + counts, gains, counts, worth, False)
    return np.where(ideal > 0, gain_sums(ranked.offsets, ranks, gains, worth, k) / np.where(ideal > 0, ideal, 1.0), 0.0)


def _objection(variants: Variants, protocol: Protocol) -> str:
    if variants["gain"] == "exp2-threshold" and "threshold" not in variants:
        return (
            f'gain = "exp2-threshold" counts from relevance.threshold, and relevance.rule is '
            f'"{protocol["relevance.rule"]}"; use relevance.rule = "threshold", or gain = "exp2"'
        )
    graded = variants["gain"] != "binary"
    if graded and variants["ideal"] == "listed" and protocol["ties.break"] == "expected":
        return (
            f'with ties.break = "expected", ideal = "listed" has a closed form for binary gains only, and gain is '
            f'"{variants["gain"]}"; use gain = "binary", ideal = "min", or a tie rule that gives one order'
        )
    return ""


def _tie_order(k: int | None, variants: Variants) -> TieOrder | str:
    """Descending gains; but an item that comes in may raise the ideal of the listed items more than their gains."""
    if variants["ideal"] != "listed" or k is None:
        return ByHits(_gains)
    if variants["gain"] == "binary":
        return BySearch()
    return (
        'with ideal = "listed" the ideal depends on which tied items are within the cut-off, and grades allow too many '
        'choices; ask for gain = "binary", for another ideal, or for no cut-off'
    )


METRIC = RankingMetric(
    "ndcg",
    "Normalised discounted cumulative gain",
    ndcg,
    cutoff="optional",
    variants=(
        Decision.choice(
            "metric.ndcg.gain",
            "What is an item worth?",
            Option("binary", "1 where it is relevant", used_by=("lenskit", "implicit", "recbole", "cornac")),
            Option("linear", "its grade", used_by=("ranx", "pytrec_eval", "ir_measures")),
            Option("exp2", "2^grade - 1", cite="Burges et al. 2005", used_by=("rival",)),
            Option(
                "exp2-threshold", "2^(grade - relevance.threshold + 1) - 1 where it is relevant", used_by=("elliot",)
            ),
        ),
        Decision.choice(
            "metric.ndcg.discount",
            "How does a place further down count less?",
            Option("log2", "1 / log2(rank + 1)", cite="Burges et al. 2005"),
            Option(
                "log-base",
                "1 / max(1, log_b rank): the first b places count in full",
                cite="Järvelin & Kekäläinen 2002",
                used_by=("lenskit",),
            ),
            Option("none", "it does not"),
            Option(
                "table",
                "by metric.ndcg.weights, a weight for each rank; 0 beyond them",
                needs="weights",
                searchable=False,
            ),
        ),
        Decision(
            "metric.ndcg.weights",
            "The weight of each rank, from the first on?",
            "weights",
            when=(When("metric.ndcg.discount", ("table",)),),
        ),
        Decision(
            "metric.ndcg.base",
            "The base of the logarithm?",
            "number",
            default=2.0,
            minimum=1.00001,
            typical=(2.0, math.e, 10.0),
            when=(When("metric.ndcg.discount", ("log-base",)),),
            cite="Järvelin & Kekäläinen 2002",
        ),
        Decision.choice(
            "metric.ndcg.ideal",
            "What is the ideal list?",
            Option("min", "the best min(k, relevant) held-out items"),
            Option("whole", "all held-out items in the best order, not cut at k"),
            Option("k", "k items of the list's highest gain, however few there are"),
            Option("listed", "the items that the list has down to k, in the best order"),
        ),
    ),
    reads=("relevance.threshold",),
    objection=_objection,
    range=UNIT_AT_SINGLE_RANKS,
    tie_order=_tie_order,
    aliases={
        "normalised-discounted-cumulative-gain": {},
        "normalized-discounted-cumulative-gain": {},
    },
    task="optimise utility",
    shows="the value of a list whose first ranks count most, as a share of the best possible list",
    cite="Järvelin & Kekäläinen 2002",
)
