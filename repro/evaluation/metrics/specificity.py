"""Specificity, or true negative rate: how much of what is not relevant is not recommended.

    specificity@k = tn / (fp + tn) = 1 - fall-out@k

``negatives`` are those of fall-out: the non-relevant items that the list ranks (``candidates``), the held-out
items that are not relevant (``judged``), or all items but the relevant ones (``catalogue``).

An empty list recommends nothing wrong and counts 1. A list without relevant items is undefined, as in recall, and
so is one without negatives, for which ``average.no_negatives`` says what counts. A list of fewer than k items has
the wrong ones that it has. Which unjudged items share a rank within k is not known, so that shared ranks are
refused unless negatives are judged.

van Rijsbergen, Information retrieval, 2nd edition, Butterworths 1979.
"""

from __future__ import annotations

from collections.abc import Mapping

from repro.evaluation.metrics._ranges import UNIT
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.fallout import NEGATIVES, all_negatives, false_positives, objection, share_of_negatives
from repro.evaluation.metrics.metric import RankingMetric, Ratio
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Decision, Value


def specificity(ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background) -> Ratio:
    """The negative items of each list that are not among the first ``k``, over all negative ones."""
    which = str(variants["negatives"])
    negatives = all_negatives(ranked, which, background)
    return share_of_negatives(ranked, negatives - false_positives(ranked, k, which), negatives)


def _of_empty_list(variants: Mapping[str, Value]) -> float:
    return 1.0


METRIC = RankingMetric(
    name="specificity",
    title="Specificity",
    compute=specificity,
    cutoff="required",
    variants=(
        Decision(
            "metric.specificity.negatives",
            "Which items are to be kept out of the list?",
            options=NEGATIVES,
            default="candidates",
        ),
    ),
    needs=("catalogue",),
    whole_list=True,
    empty=_of_empty_list,
    negatives=True,
    objection=objection,
    range=UNIT,
    tie_order=RELEVANT_FIRST,
    aliases={"tnr": {}},
    cite="van Rijsbergen 1979",
)
