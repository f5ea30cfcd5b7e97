"""Feedback, relevance and language models against the formulas in plain Python, and a case by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.testing import queries_of
from repro_reference.feedback import Feedback
from repro_reference.hitting_time import HittingTime
from repro_reference.language_models import LanguageModelItems, LanguageModelNeighbours
from repro_reference.relevance_models import RelevanceModel
from repro_reference.uir_item import UIRItem

Table = Callable[[Any], Interactions]
RATINGS = [
    [5, 3, 0, 0, 1],
    [4, 0, 2, 0, 1],
    [0, 3, 4, 0, 0],
    [1, 0, 0, 5, 0],
    [0, 0, 5, 4, 2],
    [0, 0, 0, 0, 0],
]
USERS, ITEMS = range(len(RATINGS)), range(len(RATINGS[0]))
RATED = {u: [i for i in ITEMS if RATINGS[u][i]] for u in USERS}
TOTAL = sum(map(sum, RATINGS))
COLLECTION = [sum(row[i] for row in RATINGS) / TOTAL for i in ITEMS]


def block(recommender: Any, table: Table) -> np.ndarray:
    """The scores of all users and items; those of single pairs are the same."""
    recommender.fit(table(RATINGS), seed=3)
    items = np.arange(len(ITEMS), dtype=np.int32)
    values = recommender.score(queries_of(np.arange(len(USERS), dtype=np.int32)), items).values
    for user in USERS:
        for item in ITEMS:
            alone = recommender.score(queries_of(np.array([user], dtype=np.int32)), items[[item]]).values[0, 0]
            assert alone == values[user, item] or (math.isnan(alone) and math.isnan(values[user, item]))
    return values


def neighbours(user: int, k: int) -> list[int]:
    """The users with the highest positive cosine."""

    def cosine(a: int, b: int) -> float:
        norms = math.sqrt(sum(x * x for x in RATINGS[a]) * sum(x * x for x in RATINGS[b]))
        return sum(x * y for x, y in zip(RATINGS[a], RATINGS[b], strict=True)) / norms if norms else 0.0

    others = [v for v in USERS if v != user and cosine(user, v) > 0]
    return sorted(others, key=lambda v: (-cosine(user, v), v))[:k]


def expect(score: Callable[[int, int], float | None]) -> np.ndarray:
    return np.array([[math.nan if (value := score(u, i)) is None else value for i in ITEMS] for u in USERS])


@pytest.mark.parametrize("k", [1, 2, 100])
@pytest.mark.parametrize("weight", ["rocchio", "rsv", "chi2", "kld"])
def test_feedback(table: Table, weight: str, k: int) -> None:
    def score(user: int, item: int) -> float | None:
        near = neighbours(user, k)
        ratings = sum(RATINGS[v][item] for v in near)
        if not ratings:
            return None
        mean, share = ratings / len(near), ratings / sum(sum(RATINGS[v]) for v in near)
        return {
            "rocchio": mean,
            "rsv": mean * share,
            "chi2": (share - COLLECTION[item]) ** 2 / COLLECTION[item],
            "kld": share * math.log(share / COLLECTION[item]),
        }[weight]

    np.testing.assert_allclose(block(Feedback(weight, k=k), table), expect(score), rtol=1e-12)


def test_feedback_by_hand(table: Table) -> None:
    """User 3 (items 0 and 3) has users 0, 1 and 4 nearby; with k = 1 the nearest is user 4, by 20 / sqrt(26 * 45),
    before users 1 (4 / sqrt(26 * 21)) and 0 (5 / sqrt(26 * 35)). Its ratings are 5, 4 and 2 of 11."""
    np.testing.assert_allclose(block(Feedback("rsv", k=1), table)[3], [np.nan, np.nan, 25 / 11, 16 / 11, 4 / 11])


@pytest.mark.parametrize("smoothing", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("k", [1, 2, 100])
@pytest.mark.parametrize("model", ["rm1", "rm2"])
def test_relevance_models(table: Table, model: str, k: int, smoothing: float) -> None:
    def probability(item: int, user: int) -> float:
        return (1 - smoothing) * RATINGS[user][item] / sum(RATINGS[user]) + smoothing * COLLECTION[item]

    def score(user: int, item: int) -> float | None:
        near = neighbours(user, k)
        if not near:
            return None
        if model == "rm2":
            inner = (sum(probability(item, v) * probability(j, v) for v in near) for j in RATED[user])
            return sum(map(math.log, inner))
        weights = {v: math.prod(probability(j, v) for j in RATED[user]) for v in near}
        return sum(weights[v] * probability(item, v) for v in near) / sum(weights.values())

    actual = block(RelevanceModel(model, k=k, smoothing=smoothing), table)
    np.testing.assert_allclose(actual, expect(score), rtol=1e-10)


@pytest.mark.parametrize("k", [1, 2, 100])
@pytest.mark.parametrize("smoothing", [0.5, 100.0])
@pytest.mark.parametrize("make", [LanguageModelNeighbours, LanguageModelItems])
def test_language_models(table: Table, make: type[LanguageModelNeighbours], k: int, smoothing: float) -> None:
    by_items = make is LanguageModelItems
    rows = [list(row) for row in zip(*RATINGS, strict=True)] if by_items else RATINGS
    shares = [sum(row[x] for row in rows) / TOTAL for x in range(len(rows[0]))]

    def likelihood(query: int, document: int) -> float:
        if document == query or not sum(rows[document]) or not sum(rows[query]):
            return 0.0
        logs = [
            weight * math.log((rows[document][x] / shares[x] + smoothing) / (sum(rows[document]) + smoothing))
            for x, weight in enumerate(rows[query])
            if weight
        ]
        return math.exp(sum(logs) / sum(rows[query]))

    def score(user: int, item: int) -> float | None:
        target = item if by_items else user
        similar = {b: likelihood(target, b) for b in range(len(rows))}
        near = [b for b in sorted(similar, key=lambda b: (-similar[b], b)) if similar[b] > 0][:k]
        terms = [similar[b] * (RATINGS[user][b] if by_items else RATINGS[b][item]) for b in near]
        return sum(terms) if any(terms) else None

    np.testing.assert_allclose(block(make(k=k, smoothing=smoothing), table), expect(score), rtol=1e-12)


@pytest.mark.parametrize("smoothing", [0.2, 0.5, 1.0])
def test_uir_item(table: Table, smoothing: float) -> None:
    holders = {i: {u for u in USERS if RATINGS[u][i]} for i in ITEMS}
    rows = sum(map(len, holders.values()))

    def score(user: int, item: int) -> float | None:
        if not RATED[user]:
            return None
        terms = [
            math.log(1 + (1 - smoothing) * (both / len(holders[item])) / (smoothing * len(holders[j]) / rows))
            for j in RATED[user]
            if j != item and (both := len(holders[item] & holders[j]))
        ]
        return math.log(len(holders[item]) / rows) + sum(terms)

    np.testing.assert_allclose(block(UIRItem(smoothing=smoothing), table), expect(score), rtol=1e-12)


def test_hitting_times_converge_to_the_solution_of_the_linear_system(table: Table) -> None:
    """H(u | x) for all x but u solves (I - P) H = 1, where P has no row and column of u."""
    sizes = len(RATINGS), len(RATINGS[0])
    weights = np.zeros((sum(sizes), sum(sizes)))
    weights[: sizes[0], sizes[0] :] = RATINGS
    weights += weights.T
    present = np.nonzero(weights.sum(axis=1))[0]
    steps = weights[np.ix_(present, present)]
    steps /= steps.sum(axis=1, keepdims=True)

    def score(user: int, item: int) -> float | None:
        if user not in present:
            return None
        others = [n for n, node in enumerate(present) if node != user]
        times = np.linalg.solve(np.eye(len(others)) - steps[np.ix_(others, others)], np.ones(len(others)))
        return -float(times[others.index(list(present).index(sizes[0] + item))])

    np.testing.assert_allclose(block(HittingTime(iterations=3000), table), expect(score), rtol=1e-9)


def test_short_walks_by_hand(table: Table) -> None:
    """Item 3 belongs to users 3 (weight 5) and 4 (weight 4). One step from it leads to user 3 with 5/9, and else to
    user 4: the mean of min(steps, 1) is 1, that of min(steps, 2) is 5/9 + 2 * 4/9."""
    assert block(HittingTime(iterations=1), table)[3, 3] == -1.0
    assert block(HittingTime(iterations=2), table)[3, 3] == pytest.approx(-(5 / 9 + 2 * 4 / 9))


@pytest.mark.parametrize(
    "make", [lambda: Feedback("kld"), lambda: RelevanceModel("rm1"), LanguageModelItems, HittingTime]
)
def test_ratings_that_are_no_frequencies_are_refused(make: Callable[[], Any]) -> None:
    import pandas as pd

    train = Interactions.from_frame(pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rating": [1.0, 0.0, 2.0]}))
    with pytest.raises(PluginError, match=r"reads ratings as frequencies, and there is a training rating of 0"):
        make().fit(train, seed=1)


@pytest.mark.parametrize("value", [0.0, -1.0, 1.5])
def test_smoothing_is_a_share(value: float) -> None:
    with pytest.raises(PluginError, match="smoothing = "):
        RelevanceModel("rm1", smoothing=value)
    with pytest.raises(PluginError, match="smoothing = "):
        UIRItem(smoothing=value)
