"""Shannon entropy of the recommendations: how evenly they fall on the items.

    entropy@k = - sum over items of p(i) * log2 p(i)

p(i) is the share that item i has of all recommended places down to k; an item that is never recommended adds
nothing. 0: every list holds the same single item; log2 n: n items are recommended equally often. The logarithm
may be to the base 2 (bits), e, or the number of items (of the base catalogue, or of those recommended at all),
so that 1 is the most even.

An empty list recommends nothing; a list of fewer than k items counts with those that it has; relevance plays no
part. Without any recommendation, or to the base of a single item, it is not a number. Where tied items share a
rank, lists count as they are shown. The expectation over all orders of tied items would need all tied candidates
of every list, and is refused.

Shani & Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook 2011.
"""

from __future__ import annotations

import math

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics._declarations import NOT_NEGATIVE, UNIT, Range, Variants, choice
from repro.evaluation.metrics._lists import NO_BEST_ORDER, recommended_items, refuse_expected
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import CollectionMetric
from repro.protocol import Option, Protocol


def evenness(counts: FloatArray, variants: Variants, background: Background) -> float:
    """The entropy of how often the items are recommended."""
    total = float(counts.sum())
    if not total:
        return math.nan
    levels, items = np.unique(counts[counts > 0], return_counts=True)
    shares = [(int(n), level / total) for level, n in zip(levels.tolist(), items, strict=True)]
    bits = abs(math.fsum(n * share * math.log2(share) for n, share in shares))
    match variants["base"]:
        case "2":
            return bits
        case "e":
            return bits * math.log(2)
        case "catalogue":
            n = len(background.catalogue)
        case _:
            n = int(items.sum())
    return bits / math.log2(n) if n > 1 else math.nan


def _range(k: int | None, variants: Variants, protocol: Protocol) -> Range:
    return NOT_NEGATIVE if variants["base"] in ("2", "e") else UNIT


METRIC = CollectionMetric(
    name="entropy",
    title="Shannon entropy of recommendations",
    compute=recommended_items,
    finish=evenness,
    cutoff="required",
    variants=(
        choice(
            "metric.entropy.base",
            "The base of the logarithm?",
            Option("2", "2: in bits"),
            Option("e", "e: in nats", used_by=("recbole",)),
            Option("catalogue", "the items of the base catalogue: 1 where all are recommended equally often"),
            Option("recommended", "the items recommended at all: 1 where these are equally often"),
        ),
    ),
    objection=refuse_expected,
    range=_range,
    tie_order=NO_BEST_ORDER,
    cite="Shani & Gunawardana 2011",
)
