"""Serendipity: how far the relevant items of a list are from the user's training items.

    serendipity@k = (sum over the relevant items down to k of their distance from the user's training items) / k

The distance from the training items is the mean of the distances from each of them, or that from the nearest one. Two
items are compared by the users who have them in training (``over=co-ratings``) or by their features
(``over=features``), with the cosine or the Jaccard distance. An item without any such data is at distance 1 from all
others, and so is every item from a user without training rows.

An empty list counts 0. A list without relevant items is undefined. A list of fewer than k items is divided by k, or,
with ``denominator=list``, by its length. All tie rules apply, as to precision, in which a hit counts 1.

Shani & Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook 2011; Ge et al., Beyond accuracy:
evaluating recommender systems by coverage and serendipity, RecSys 2010.
"""

from __future__ import annotations

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Range, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import AtSingleRanks
from repro.evaluation.metrics.shared.distances import farthest
from repro.evaluation.metrics.shared.hits import defined, discounted_gains, limit
from repro.evaluation.metrics.shared.lists import places
from repro.evaluation.metrics.tie_order import ByHits
from repro.evaluation.metrics.unexpectedness import PROFILE_NEEDS, from_profiles, profile_variants
from repro.protocol import Protocol


def serendipity(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The distances of each list's relevant items down to ``k`` from the user's profile, over its places."""
    gains = _distances(ranked, k, variants, background)
    return Ratio(discounted_gains(ranked, limit(k), gains, "none"), defined(places(ranked, k, variants), ranked))


def _range(k: int | None, variants: Variants, protocol: Protocol) -> Range:
    return AtSingleRanks(0.0, farthest(variants))(k, variants, protocol)


def _distances(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    """The distance from the user's profile of each relevant item that may be listed to ``k``; 0 for other hits."""
    users = np.repeat(ranked.users, np.diff(ranked.offsets))
    counted = (ranked.relevant > 0) & (ranked.above >= 0) & (ranked.above < limit(k))
    distances = np.zeros(len(counted))
    distances[counted] = from_profiles(users[counted], ranked.hit_items[counted], variants, background)
    return distances


METRIC = RankingMetric(
    "serendipity",
    "Serendipity",
    serendipity,
    cutoff="required",
    variants=profile_variants("serendipity"),
    needs=("train",),
    also_needs=PROFILE_NEEDS,
    range=_range,
    tie_order=ByHits(_distances),
    task="beyond accuracy",
    shows="whether good items are also unlike those that the user already knows",
    cite="Shani & Gunawardana 2011",
)
