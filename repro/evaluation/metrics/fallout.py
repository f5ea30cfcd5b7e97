"""Fall-out, or false positive rate: how much of what is not relevant is recommended.

    fall-out@k = fp / (fp + tn) = negative items down to k / all negative items

``negatives`` are the non-relevant items that the list ranks (``candidates``), the held-out items that are not
relevant (``judged``), or all items but the relevant ones (``catalogue``). A lower value is the better one.

An empty list recommends nothing wrong and counts 0. A list without relevant items is undefined, as in recall, and
so is one without negatives, for which ``average.no_negatives`` says what counts. A list of fewer than k items has
the wrong ones that it has. Which unjudged items share a rank within k is not known, so that shared ranks are
refused unless negatives are judged.

van Rijsbergen, Information retrieval, 2nd edition, Butterworths 1979.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics._hits import defined, discounted_gains, limit, n_negatives, relevant_hits
from repro.evaluation.metrics._ranges import UNIT
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import NO_NEGATIVES, NO_RELEVANT, RankingMetric, Ratio
from repro.evaluation.metrics.tie_order import RELEVANT_LAST
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Decision, Option, Protocol, Value


def fallout(ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background) -> Ratio:
    """The negative items of each list down to ``k`` over all negative ones."""
    which = str(variants["negatives"])
    negatives = all_negatives(ranked, which, background)
    return share_of_negatives(ranked, false_positives(ranked, k, which), negatives)


def share_of_negatives(ranked: Ranked, some: FloatArray, negatives: FloatArray) -> Ratio:
    """Some of the negative items over all of them; where there are none, why there is no value."""
    why = np.where(ranked.n_relevant > 0, NO_NEGATIVES, NO_RELEVANT)
    return Ratio(np.where(negatives > 0, some, why), negatives)


def false_positives(ranked: Ranked, k: int | None, negatives: str) -> FloatArray:
    """The (expected) negative items of each list down to ``k``; 0 where it has no relevant items."""
    if negatives == "judged":
        return defined(discounted_gains(ranked, limit(k), 1.0 - ranked.relevant_gains, "none"), ranked)
    return defined(np.minimum(ranked.lengths, limit(k)) - relevant_hits(ranked, k), ranked)


def all_negatives(ranked: Ranked, negatives: str, background: Background) -> FloatArray:
    """The negative items of each list, at least one where it is empty; 0 where it has no relevant items."""
    return defined(np.maximum(n_negatives(ranked, negatives, background), ranked.lengths == 0), ranked)


def objection(variants: Mapping[str, Value], protocol: Protocol) -> str:
    """Why false positives cannot be counted."""
    if variants["negatives"] != "judged" and protocol.text("ties.break").startswith("shared-"):
        return (
            f'which unjudged items have a rank within k is not known under ties.break = "{protocol["ties.break"]}"; '
            'use negatives = "judged", or a tie rule that gives one order'
        )
    return ""


NEGATIVES = (
    Option("candidates", "all others of the list"),
    Option("judged", "held-out items that are not relevant"),
    Option("catalogue", "all others of the catalogue"),
)

METRIC = RankingMetric(
    name="fallout",
    title="Fall-out",
    compute=fallout,
    cutoff="required",
    variants=(
        Decision(
            "metric.fallout.negatives",
            "Which items are to be kept out of the list?",
            options=NEGATIVES,
            default="candidates",
        ),
    ),
    needs=("catalogue",),
    whole_list=True,
    negatives=True,
    objection=objection,
    better="lower",
    range=UNIT,
    tie_order=RELEVANT_LAST,
    aliases={"fall-out": {}, "fpr": {}},
    cite="van Rijsbergen 1979",
)
