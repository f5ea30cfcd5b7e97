"""Catalogue coverage: the share of the items that are recommended to any user.

    catalogue-coverage@k = items in at least one list down to k / items of the base catalogue

An empty list recommends nothing; a list of fewer than k items recommends those that it has; relevance has no effect.
If tied items share a rank, lists count as they are shown. The expectation over all orders of tied items is refused: it
would need all tied candidates of every list.

Ge et al., Beyond accuracy: evaluating recommender systems by coverage and serendipity, RecSys 2010.
"""

from __future__ import annotations

import math

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Variants
from repro.evaluation.metrics.shared.lists import item_counts_metric


def share_of_items(counts: FloatArray, variants: Variants, background: Background) -> float:
    """The recommended items as a share of the catalogue."""
    return np.count_nonzero(counts) / len(background.catalogue) if len(background.catalogue) else math.nan


METRIC = item_counts_metric(
    "catalogue-coverage",
    "Catalogue coverage",
    share_of_items,
    aliases={"catalog-coverage": {}, "item-coverage": {}},
    task="beyond accuracy",
    shows="how much of the catalogue is recommended to anyone; not whether it is recommended to the right users",
    cite="Ge et al. 2010",
)
