"""Shannon entropy of the recommendations: how evenly they fall on the items.

    entropy@k = - sum over items of p(i) * log2 p(i)

p(i) is the share that item i has of all recommended places down to k; an item that is never recommended adds nothing.
0: every list holds the same single item; log2 n: n items are recommended equally often. The base of the logarithm is 2
(bits), e, or the number of items (of the base catalogue, or recommended ones), so that 1 is the most even.

An empty list recommends nothing; a list of fewer than k items counts with those that it has; relevance has no effect.
Without any recommendation, or to the base of a single item, it is not a number. If tied items share a rank, lists
count as they are shown. The expectation over all orders of tied items is refused: it would need all tied candidates of
every list.

Shani & Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook 2011.
"""

from __future__ import annotations

import math

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Range, Variants
from repro.evaluation.metrics.shared.declarations import NOT_NEGATIVE, UNIT
from repro.evaluation.metrics.shared.lists import item_counts_metric
from repro.protocol import Decision, Option, Protocol


def evenness(counts: FloatArray, variants: Variants, background: Background) -> float:
    """The entropy of how often the items are recommended."""
    total = float(counts.sum())
    if not total:
        return math.nan
    levels, items = np.unique(counts[counts > 0], return_counts=True)
    shares = [(int(n), level / total) for level, n in zip(levels.tolist(), items, strict=True)]
    bits = abs(math.fsum(n * share * math.log2(share) for n, share in shares))
    if variants["base"] in ("2", "e"):
        return bits if variants["base"] == "2" else bits * math.log(2)
    n = len(background.catalogue) if variants["base"] == "catalogue" else int(items.sum())
    return bits / math.log2(n) if n > 1 else math.nan


def _range(k: int | None, variants: Variants, protocol: Protocol) -> Range:
    return NOT_NEGATIVE if variants["base"] in ("2", "e") else UNIT


METRIC = item_counts_metric(
    "entropy",
    "Shannon entropy of recommendations",
    evenness,
    variants=(
        Decision.choice(
            "metric.entropy.base",
            "The base of the logarithm?",
            Option("2", "2: in bits"),
            Option("e", "e: in nats", used_by=("recbole",)),
            Option("catalogue", "the items of the base catalogue: 1 where all are recommended equally often"),
            Option("recommended", "the items recommended at all: 1 where these are equally often"),
        ),
    ),
    range=_range,
    task="beyond accuracy",
    shows="how evenly recommendations spread over items; not whether they are good",
    cite="Shani & Gunawardana 2011",
)
