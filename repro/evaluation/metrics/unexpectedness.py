"""Unexpectedness: how far the recommended items are from the user's training items.

    unexpectedness@k = (sum over the items down to k of their distance from the user's training items) / k

The distance from the training items is the mean of the distances from each of them (the profile distance of Vargas &
Castells), or that from the nearest one (the surprise of Kaminskas & Bridge). Two items are compared by the users who
have them in training (``over=co-ratings``) or by their features (``over=features``), with the cosine or the Jaccard
distance. An item without any such data is at distance 1 from all others, and so is every item from a user without
training rows.

An empty list counts 0. A list of fewer than k items is divided by k, or, with ``denominator=list``, by its length.
Relevance has no effect; see serendipity. If tied items share a rank, lists count as they are shown. The expectation
over all orders of tied items is refused: it would need all tied candidates of every list.

Vargas & Castells, Rank and relevance in novelty and diversity metrics for recommender systems, RecSys 2011; Kaminskas
& Bridge, Measuring surprise in recommender systems, RecSys workshop REDD 2014.
"""

from __future__ import annotations

import numpy as np

from repro.data.interactions import CodeArray, FloatArray
from repro.evaluation.metrics.metric import Background, Need, Range, Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import ByVariant
from repro.evaluation.metrics.shared.distances import KINDS, distance_decisions, farthest, profile_distances
from repro.evaluation.metrics.shared.lists import denominator_decision, places, refuse_expected, shown
from repro.evaluation.metrics.tie_order import ByItems, Places
from repro.protocol import Decision, Option, Protocol


def unexpectedness(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The distances of each list's items down to ``k`` from the user's profile, over the denominator."""
    items = shown(ranked, k)
    lists, at = np.nonzero(items >= 0)
    distances = np.zeros(items.shape)
    distances[lists, at] = from_profiles(ranked.users[lists], items[lists, at], variants, background)
    # A cumulated sum adds place after place, whatever the shape of the block.
    return Ratio(np.cumsum(distances, axis=1)[:, -1], places(ranked, k, variants))


def from_profiles(users: CodeArray, items: CodeArray, variants: Variants, background: Background) -> FloatArray:
    """The distance of each item from the training items of its user; 1 if the user has none."""
    profiles = background.profiles
    vectors = background.vectors(str(variants["over"]))
    kind, nearest = KINDS[str(variants["distance"])], variants["profile"] == "nearest"
    return profile_distances(users, items, profiles.offsets, profiles.members, vectors, kind, nearest)


def profile_variants(metric: str) -> tuple[Decision, ...]:
    """The decisions about the distance of an item from a profile, and about the denominator."""
    return (
        Decision.choice(
            f"metric.{metric}.profile",
            "What is the distance of an item from the user's training items?",
            Option("mean", "the mean of the distances from all of them", cite="Vargas & Castells 2011"),
            Option("nearest", "the distance from the nearest one", cite="Kaminskas & Bridge 2014"),
        ),
        *distance_decisions(metric),
        denominator_decision(metric, "k"),
    )


PROFILE_NEEDS = ByVariant[tuple[Need, ...]]("over", {"features": ("features",)}, ())


def _range(k: int | None, variants: Variants, protocol: Protocol) -> Range:
    return 0.0, farthest(variants)


def _worth(ranked: Ranked, lists: Places, places: Places, variants: Variants, background: Background) -> FloatArray:
    return from_profiles(ranked.users[lists], ranked.items[lists, places], variants, background)


METRIC = RankingMetric(
    "unexpectedness",
    "Unexpectedness",
    unexpectedness,
    cutoff="required",
    variants=profile_variants("unexpectedness"),
    needs=("train",),
    also_needs=PROFILE_NEEDS,
    undefined="left-out",
    objection=refuse_expected,
    range=_range,
    tie_order=ByItems(_worth),
    task="beyond accuracy",
    shows="how unlike the user's known items the recommended ones are; not whether they are good",
    cite="Vargas & Castells 2011",
)
