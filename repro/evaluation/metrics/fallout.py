"""Fall-out, or false positive rate: the share of the non-relevant items that are recommended.

    fall-out@k = fp / (fp + tn) = negative items down to k / all negative items

``negatives`` are the non-relevant items that the list ranks (``candidates``), the held-out items that are not relevant
(``judged``), or all items but the relevant ones (``catalogue``). A lower value is the better one.

An empty list recommends nothing wrong and counts 0. A list without relevant items is undefined, as in recall, and so
is one without negatives, for which ``average.no_negatives`` says what counts. A list of fewer than k items has the
wrong ones that it has. Which unjudged items share a rank within k is not known, so that shared ranks are refused
unless negatives are judged.

van Rijsbergen, Information retrieval, 2nd edition, Butterworths 1979.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import NO_NEGATIVES, NO_RELEVANT, Compute, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import UNIT, shares_ranks
from repro.evaluation.metrics.shared.hits import defined, discounted_gains, limit, n_negatives, relevant_hits
from repro.evaluation.metrics.tie_order import RELEVANT_LAST
from repro.protocol import Decision, Option, Protocol


def fallout(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The negative items of each list down to ``k`` over all negative ones."""
    return share_of_negatives(ranked, *negative_items(ranked, k, str(variants["negatives"]), background))


def negative_items(ranked: Ranked, k: int | None, which: str, background: Background) -> tuple[FloatArray, FloatArray]:
    """The (expected) negative items of each list down to ``k``, and all of them; 0 if it has no relevant items.

    An empty list counts as one with at least one negative item.
    """
    if which == "judged":
        listed = discounted_gains(ranked, limit(k), 1.0 - ranked.relevant_gains, "none")
    else:
        listed = np.minimum(ranked.lengths, limit(k)) - relevant_hits(ranked, k)
    negatives = np.maximum(n_negatives(ranked, which, background), ranked.lengths == 0)
    return defined(listed, ranked), defined(negatives, ranked)


def share_of_negatives(ranked: Ranked, some: FloatArray, negatives: FloatArray) -> Ratio:
    """Some of the negative items over all of them; if there are none, why there is no value."""
    why = np.where(ranked.n_relevant > 0, NO_NEGATIVES, NO_RELEVANT)
    return Ratio(np.where(negatives > 0, some, why), negatives)


def _objection(variants: Variants, protocol: Protocol) -> str:
    if variants["negatives"] != "judged" and shares_ranks(protocol):
        return (
            f'which unjudged items have a rank within k is not known under ties.break = "{protocol["ties.break"]}"; '
            'use negatives = "judged", or a tie rule that gives one order'
        )
    return ""


def metric_of_negatives(name: str, title: str, compute: Compute, **declared: Any) -> RankingMetric:
    """A metric of the negative items of each list down to the cut-off."""
    return RankingMetric(
        name,
        title,
        compute,
        cutoff="required",
        variants=(
            Decision.choice(
                f"metric.{name}.negatives",
                "Which items are to be kept out of the list?",
                Option("candidates", "all others of the list"),
                Option("judged", "held-out items that are not relevant"),
                Option("catalogue", "all others of the catalogue"),
            ),
        ),
        needs=("catalogue",),
        whole_list=True,
        negatives=True,
        objection=_objection,
        range=UNIT,
        cite="van Rijsbergen 1979",
        **declared,
    )


METRIC = metric_of_negatives(
    "fallout",
    "Fall-out",
    fallout,
    better="lower",
    tie_order=RELEVANT_LAST,
    aliases={"fall-out": {}, "fpr": {}},
    task="recommend some good items",
    shows="how many of the bad items are listed, where each of them does harm",
)
