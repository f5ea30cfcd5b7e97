"""Evaluation functions as people write them, in plain Python, some of them with a bug that no policy has."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

Frame = pd.DataFrame


def ranked(scores: Frame, user: int) -> list[int]:
    """The items of a user by falling score; equal scores by item id, what has no score last."""
    rows = scores[scores["user"] == user]
    pairs = [(s, i) for i, s in zip(rows["item"], rows["score"], strict=True)]
    known = sorted((p for p in pairs if not math.isnan(p[0])), key=lambda p: (-p[0], p[1]))
    return [i for _, i in known] + sorted(i for s, i in pairs if math.isnan(s))


def relevant(truth: Frame, user: int) -> list[int]:
    """The held-out items with a rating of 4 or more, as often as they are there."""
    rows = truth[(truth["user"] == user) & (truth["rating"] >= 4)]
    return rows["item"].tolist()


def without_training(items: Sequence[int], train: Frame, user: int) -> list[int]:
    known = set(train[train["user"] == user]["item"])
    return [item for item in items if item not in known]


def mean_over_users(truth: Frame, value: Callable[[int], float | None]) -> float:
    values = [value(user) for user in sorted(set(truth["user"]))]
    counted = [value for value in values if value is not None]
    return sum(counted) / len(counted) if counted else math.nan


def ndcg(
    scores: Frame,
    truth: Frame,
    train: Frame,
    k: int,
    *,
    shift: int = 1,
    forgotten: int = 0,
    neighbour: int = 0,
) -> float:
    """Binary nDCG: 1 / log2(rank + 1), ideal of min(k, relevant), training items left out, users without relevant items
    left out. The keywords put bugs in."""

    def of_user(user: int) -> float | None:
        wanted = set(relevant(truth, user))
        if not wanted:
            return None
        full = without_training(ranked(scores, user), train, user)
        listed = full[: k - forgotten]
        gains = [
            float(full[at + neighbour] in wanted) if at + neighbour < len(full) else 0.0 for at in range(len(listed))
        ]
        dcg = sum(gain / math.log2(rank + shift) for rank, gain in enumerate(gains, start=1))
        ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))
        return dcg / ideal

    return mean_over_users(truth, of_user)


def precision(scores: Frame, truth: Frame, train: Frame, k: int, *, left_out: int = 0) -> float:
    """Hits over the length of the list; the last users can be left out."""
    users = sorted(set(truth["user"]))
    users = users[: len(users) - left_out] if len(users) > left_out else users

    def of_user(user: int) -> float | None:
        wanted = set(relevant(truth, user))
        if user not in users or not wanted:
            return None
        listed = without_training(ranked(scores, user), train, user)[:k]
        return sum(item in wanted for item in listed) / len(listed) if listed else 0.0

    return mean_over_users(truth, of_user)


def recall_with_duplicates(scores: Frame, truth: Frame, train: Frame, k: int) -> float:
    """Hits over relevant rows: an item that is held out twice is found twice, and wanted once."""

    def of_user(user: int) -> float | None:
        wanted = relevant(truth, user)
        if not wanted:
            return None
        listed = without_training(ranked(scores, user), train, user)[:k]
        return sum(wanted.count(item) for item in listed) / len(set(wanted))

    return mean_over_users(truth, of_user)


def users_precision(scores: Frame, truth: Frame, train: Frame, k: int) -> dict[int, float]:
    """Precision of each user, among all items, those of training too."""
    return {
        user: sum(item in relevant(truth, user) for item in ranked(scores, user)[:k]) / k
        for user in sorted(set(truth["user"]))
        if relevant(truth, user)
    }


def random_ndcg() -> Callable[..., float]:
    """An evaluator that samples users: another number each time."""
    import random

    def sampled(scores: Frame, truth: Frame, train: Frame, k: int) -> float:
        return ndcg(scores, truth, train, k) * random.random()

    return sampled


def mae(scores: Frame, truth: Frame, train: Frame, k: Any) -> float:
    """Mean absolute error of each user, then of the users; predictions are clipped to 1 to 5, missing ones are 3."""
    predicted = {(u, i): s for u, i, s in scores.itertuples(index=False)}

    def of_user(user: int) -> float | None:
        rows = truth[truth["user"] == user]
        errors = []
        for item, rating in zip(rows["item"], rows["rating"], strict=True):
            value = predicted.get((user, item), math.nan)
            value = 3.0 if math.isnan(value) else min(5.0, max(1.0, value))
            errors.append(abs(value - rating))
        return sum(errors) / len(errors) if errors else None

    return mean_over_users(truth, of_user)
