"""User coverage: the share of test users who get a recommendation.

    user-coverage@k = test users with at least one item down to k / test users

A user with an empty list is not covered; relevance and the length of a short list have no effect. By default an item
counts only if the algorithm itself scored it: a list of items that a missing-score rule placed, or with fallback
scores of the framework, covers no user, whatever ``missing.fallback`` says. If the order of tied items is expected or
shared, lists count as they are shown.

Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 2004.
"""

from __future__ import annotations

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, CollectionMetric, Variants
from repro.evaluation.metrics.shared.declarations import UNIT
from repro.evaluation.metrics.tie_order import UNAFFECTED, ByItems, Places, TieOrder
from repro.evaluation.ranking.ranked import BY_ALGORITHM, Ranked
from repro.protocol import Decision, Option


def covered_users(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    """The number of users of the block with an item down to ``k``."""
    counted = ranked.items[:, :k] >= 0
    if variants["counts"] == "scored":
        counted &= ranked.scored[:, :k] == BY_ALGORITHM
    return np.array([float(len(np.unique(ranked.users[counted.any(axis=1)])))])


def share_of_users(counts: FloatArray, variants: Variants, background: Background) -> float:
    """The covered users as a share of the test users."""
    return float(counts[0] / len(background.test_users)) if len(background.test_users) else float("nan")


def _worth(ranked: Ranked, lists: Places, places: Places, variants: Variants, background: Background) -> FloatArray:
    return (ranked.scored[lists, places] == BY_ALGORITHM).astype(np.float64)


def _tie_order(k: int | None, variants: Variants) -> TieOrder:
    """A list covers its user from the first item on that counts."""
    return ByItems(_worth) if variants["counts"] == "scored" else UNAFFECTED


METRIC = CollectionMetric(
    "user-coverage",
    "User coverage",
    covered_users,
    share_of_users,
    cutoff="required",
    variants=(
        Decision.choice(
            "metric.user-coverage.counts",
            "Which items cover a user?",
            Option("scored", "items that the algorithm itself scored, not those with a made-up score"),
            Option("listed", "all items of the list"),
        ),
    ),
    range=UNIT,
    tie_order=_tie_order,
    task="beyond accuracy",
    shows="how many users get recommendations at all; accuracy is to be read with it",
    cite="Herlocker et al. 2004",
)
