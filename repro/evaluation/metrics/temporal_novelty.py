"""Temporal novelty: how much of a list was never recommended to the user before.

    temporal-novelty@k = items down to k that no earlier list of the user had down to k / k

With a single earlier list it is the temporal diversity; with several, an item that comes back after a pause is diverse
and not novel.

A user without any earlier list is left out. An empty list counts 0. A list of fewer than k items is divided by k, or,
with ``denominator=list``, by its length. Relevance has no effect. If tied items share a rank, lists count as they are
shown. The expectation over all orders of tied items is refused: it would need all tied candidates of every list.

Lathia et al., Temporal diversity in recommender systems, SIGIR 2010.
"""

from __future__ import annotations

from repro.evaluation.metrics.metric import Background, Ranked, Ratio, Variants
from repro.evaluation.metrics.shared.lists import new_items, places, temporal_metric


def temporal_novelty(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The items of each list that are in no earlier one of the user, over the denominator."""
    new, compared = new_items(ranked, k, background.previous)
    return Ratio(new, places(ranked, k, variants) * compared)


METRIC = temporal_metric(
    "temporal-novelty",
    "Temporal novelty",
    temporal_novelty,
    task="beyond accuracy",
    shows="how many items a user is shown for the first time; not whether they are good",
)
