"""Temporal diversity: how much of a list was not in the user's list before it.

    temporal-diversity@k = items down to k that the user's last list did not have down to k / k

0 where the list is the same as the last time, whatever its order; 1 where all of it changed. Of several earlier
lists only the latest is compared; see temporal-novelty for all of them.

A user without an earlier list, or with an empty one, has nothing to compare and is left out. An empty list counts
0. A list of fewer than k items is divided by k, or, with ``denominator=list``, by its length. Which items are
relevant plays no part. Where tied items share a rank, lists count as they are shown. The expectation over all
orders of tied items would need all tied candidates of every list, and is refused.

Lathia et al., Temporal diversity in recommender systems, SIGIR 2010.
"""

from __future__ import annotations

from collections.abc import Mapping

from repro.evaluation.metrics._earlier import new_items, no_order_of_two_times
from repro.evaluation.metrics._lists import denominator_decision, places, refuse_expected
from repro.evaluation.metrics._ranges import UNIT
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import RankingMetric, Ratio
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Value


def temporal_diversity(ranked: Ranked, k: int | None, variants: Mapping[str, Value], background: Background) -> Ratio:
    """The items of each list that are not in the user's last one, over the denominator asked for."""
    new, compared = new_items(ranked, k, background.previous[:1])
    return Ratio(new, places(ranked, k, variants) * compared)


METRIC = RankingMetric(
    name="temporal-diversity",
    title="Temporal diversity",
    compute=temporal_diversity,
    cutoff="required",
    variants=(denominator_decision("temporal-diversity", "k"),),
    needs=("previous",),
    undefined="left-out",
    objection=refuse_expected,
    range=UNIT,
    tie_order=no_order_of_two_times,
    cite="Lathia et al. 2010",
)
