"""Gini index of the recommendations: how unevenly they fall on the items.

    gini@k = (sum over items j = 1..n, the rarest first, of (2j - n - 1) * p(j)) / (n - 1)

p(j) is the share that item j has of all recommended places down to k. 0: all items are recommended equally
often; 1: every list holds the same single item. The n items are those of the base catalogue, or, with
``over=recommended``, those that are recommended at all. ``divisor=n`` is the index of a whole population, half
the relative mean difference, which stays below 1 - 1/n.

An empty list recommends nothing; a list of fewer than k items counts with those that it has; relevance plays no
part. Without any recommendation, or of a single item with the divisor n - 1, it is not a number. Where tied items
share a rank, lists count as they are shown. The expectation over all orders of tied items would need all tied
candidates of every list, and is refused.

Shani & Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook 2011; Fleder & Hosanagar,
Blockbuster culture's next rise or fall, Management Science 2009.
"""

from __future__ import annotations

import math

import numpy as np

from repro.data.description import gini
from repro.data.interactions import FloatArray
from repro.evaluation.metrics._declarations import UNIT, Variants, choice
from repro.evaluation.metrics._lists import NO_BEST_ORDER, recommended_items, refuse_expected
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import CollectionMetric
from repro.protocol import Option


def unevenness(counts: FloatArray, variants: Variants, background: Background) -> float:
    """The Gini index of how often the items are recommended."""
    counted = counts[background.catalogue] if variants["over"] == "catalogue" else counts[counts > 0]
    n = len(counted)
    if not counted.any():
        return math.nan
    of_population = gini(counted.astype(np.int64))
    if variants["divisor"] == "n":
        return of_population
    return of_population * n / (n - 1) if n > 1 else math.nan


METRIC = CollectionMetric(
    name="gini",
    title="Gini index of recommendations",
    compute=recommended_items,
    finish=unevenness,
    cutoff="required",
    variants=(
        choice(
            "metric.gini.over",
            "Over which items?",
            Option("catalogue", "all items of the base catalogue, those never recommended with 0"),
            Option("recommended", "the items that are recommended at least once"),
        ),
        choice(
            "metric.gini.divisor",
            "By what is the sum divided?",
            Option("n-1", "the items but one: from 0 to 1", cite="Shani & Gunawardana 2011"),
            Option("n", "the items: half the relative mean difference", used_by=("recbole",)),
        ),
    ),
    objection=refuse_expected,
    better="lower",
    range=UNIT,
    tie_order=NO_BEST_ORDER,
    cite="Shani & Gunawardana 2011",
)
