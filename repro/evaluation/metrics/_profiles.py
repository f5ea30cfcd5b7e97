"""How far recommended items are from what a user has: what unexpectedness and serendipity share."""

from __future__ import annotations

from collections.abc import Mapping

from repro.data.interactions import CodeArray, FloatArray
from repro.evaluation.metrics._distances import distance_decisions, kind_of, profile_distances
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import Need
from repro.protocol import Decision, Option, Value


def profile_decisions(metric: str) -> tuple[Decision, ...]:
    """What the distance of an item from a profile is."""
    return (
        Decision(
            f"metric.{metric}.profile",
            "What is the distance of an item from the user's training items?",
            options=(
                Option("mean", "the mean of the distances from all of them", cite="Vargas & Castells 2011"),
                Option("nearest", "the distance from the nearest one", cite="Kaminskas & Bridge 2014"),
            ),
            default="mean",
        ),
        *distance_decisions(metric),
    )


def profile_needs(variants: Mapping[str, Value]) -> tuple[Need, ...]:
    """What is needed besides the training rows."""
    return ("features",) if variants["over"] == "features" else ()


def from_profiles(
    users: CodeArray, items: CodeArray, variants: Mapping[str, Value], background: Background
) -> FloatArray:
    """How far each item is from the training items of the user beside it; 1 where the user has none."""
    profiles = background.profiles
    vectors = background.vectors(str(variants["over"]))
    nearest = variants["profile"] == "nearest"
    return profile_distances(users, items, profiles.indptr, profiles.indices, vectors, kind_of(variants), nearest)
