"""Temporal diversity: how much of a list was not in the user's list before it.

    temporal-diversity@k = items down to k that the user's last list did not have down to k / k

0 if the list is the same as the last time, in whatever order; 1 if all of it changed. Of several earlier lists only
the latest is compared; see temporal-novelty for all of them.

A user without an earlier list, or with an empty one, is left out. An empty list counts 0. A list of fewer than k items
is divided by k, or, with ``denominator=list``, by its length. Relevance has no effect. If tied items share a rank,
lists count as they are shown. The expectation over all orders of tied items is refused: it would need all tied
candidates of every list.

Lathia et al., Temporal diversity in recommender systems, SIGIR 2010.
"""

from __future__ import annotations

from repro.evaluation.metrics.metric import Background, Ranked, Ratio, Variants
from repro.evaluation.metrics.shared.lists import new_items, places, temporal_metric


def temporal_diversity(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The items of each list that are not in the user's last one, over the denominator."""
    new, compared = new_items(ranked, k, background.previous[:1])
    return Ratio(new, places(ranked, k, variants) * compared)


METRIC = temporal_metric(
    "temporal-diversity",
    "Temporal diversity",
    temporal_diversity,
    task="beyond accuracy",
    shows="how much lists change over time; not whether they are good",
)
