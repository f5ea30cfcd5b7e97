"""Catalogue coverage: the share of the items that anyone is recommended.

    catalogue-coverage@k = items in at least one list down to k / items of the base catalogue

An empty list recommends nothing; a list of fewer than k items recommends those that it has; relevance plays no
part. Where tied items share a rank, lists count as they are shown. The expectation over all orders of tied items
would need all tied candidates of every list, and is refused.

Ge et al., Beyond accuracy: evaluating recommender systems by coverage and serendipity, RecSys 2010.
"""

from __future__ import annotations

import math

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics._declarations import UNIT, Variants
from repro.evaluation.metrics._lists import NO_BEST_ORDER, recommended_items, refuse_expected
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import CollectionMetric


def share_of_items(counts: FloatArray, variants: Variants, background: Background) -> float:
    """The recommended items as a share of the catalogue."""
    return np.count_nonzero(counts) / len(background.catalogue) if len(background.catalogue) else math.nan


METRIC = CollectionMetric(
    name="catalogue-coverage",
    title="Catalogue coverage",
    compute=recommended_items,
    finish=share_of_items,
    cutoff="required",
    objection=refuse_expected,
    range=UNIT,
    tie_order=NO_BEST_ORDER,
    cite="Ge et al. 2010",
)
