"""Gini index of the recommendations: how unevenly they fall on the items.

    gini@k = (sum over items j = 1..n, the rarest first, of (2j - n - 1) * p(j)) / (n - 1)

p(j) is the share that item j has of all recommended places down to k. 0: all items are recommended equally often; 1:
every list holds the same single item. The n items are those of the base catalogue, or, with ``over=recommended``, the
recommended ones. ``divisor=n`` is the index of a population (half the relative mean difference), below 1 - 1/n.

An empty list recommends nothing; a list of fewer than k items counts with those that it has; relevance has no effect.
Without any recommendation, or of a single item with the divisor n - 1, it is not a number. If tied items share a rank,
lists count as they are shown. The expectation over all orders of tied items is refused: it would need all tied
candidates of every list.

Shani & Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook 2011; Fleder & Hosanagar,
Blockbuster culture's next rise or fall, Management Science 2009.
"""

from __future__ import annotations

import math

import numpy as np

from repro.data.description import gini
from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Variants
from repro.evaluation.metrics.shared.lists import item_counts_metric
from repro.protocol import Decision, Option


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


METRIC = item_counts_metric(
    "gini",
    "Gini index of recommendations",
    unevenness,
    variants=(
        Decision.choice(
            "metric.gini.over",
            "Over which items?",
            Option("catalogue", "all items of the base catalogue, those never recommended with 0"),
            Option("recommended", "the items that are recommended at least once"),
        ),
        Decision.choice(
            "metric.gini.divisor",
            "By what is the sum divided?",
            Option("n-1", "the items but one: from 0 to 1", cite="Shani & Gunawardana 2011"),
            Option("n", "the items: half the relative mean difference", used_by=("recbole",)),
        ),
    ),
    better="lower",
    aliases={"gini-index": {}},
    task="beyond accuracy",
    shows="how much recommendations concentrate on few items; not whether they are good",
    cite="Shani & Gunawardana 2011",
)
