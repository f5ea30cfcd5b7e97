"""Specificity, or true negative rate: the share of the non-relevant items that are not recommended.

    specificity@k = tn / (fp + tn) = 1 - fall-out@k

``negatives`` are those of fall-out: the non-relevant items that the list ranks (``candidates``), the held-out items
that are not relevant (``judged``), or all items but the relevant ones (``catalogue``).

An empty list recommends nothing wrong and counts 1. A list without relevant items is undefined, as in recall, and so
is one without negatives, for which ``average.no_negatives`` says what counts. A list of fewer than k items has the
wrong ones that it has. Which unjudged items share a rank within k is not known, so that shared ranks are refused
unless negatives are judged.

van Rijsbergen, Information retrieval, 2nd edition, Butterworths 1979.
"""

from __future__ import annotations

from repro.evaluation.metrics.fallout import metric_of_negatives, negative_items, share_of_negatives
from repro.evaluation.metrics.metric import Background, Ranked, Ratio, Variants
from repro.evaluation.metrics.tie_order import RELEVANT_FIRST


def specificity(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The negative items of each list that are not among the first ``k``, over all negative ones."""
    listed, negatives = negative_items(ranked, k, str(variants["negatives"]), background)
    return share_of_negatives(ranked, negatives - listed, negatives)


METRIC = metric_of_negatives(
    "specificity",
    "Specificity",
    specificity,
    empty=1.0,
    tie_order=RELEVANT_FIRST,
    aliases={"tnr": {}},
    task="recommend some good items",
    shows="how many of the bad items stay out of the list; nearly 1 where most items are bad",
)
