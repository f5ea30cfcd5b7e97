"""Biases against plain loops and against linear least squares."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.data.interactions import Interactions
from repro.testing import queries_of
from repro_reference.bias import Bias, declaration

Table = Callable[[Any], Interactions]
OPTIONS = {parameter.name: parameter.options for parameter in declaration.parameters if parameter.options}
GIVEN = st.fixed_dictionaries(
    {name: st.sampled_from(options) for name, options in OPTIONS.items()}
    | {
        "user_damping": st.sampled_from([0.0, 1.5, 20.0]),
        "item_damping": st.sampled_from([0.0, 2.5]),
        "epochs": st.integers(1, 4),
        "learning_rate": st.sampled_from([0.005, 0.1]),
    }
)
RATINGS = st.integers(2, 6).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from([0, 0, 1, 2, 3.5, 5]), min_size=n, max_size=n), min_size=2, max_size=6)
)


def block(recommender: Bias, train: Interactions) -> np.ndarray:
    recommender.fit(train, seed=1)
    users, items = (np.arange(size, dtype=np.int32) for size in (train.n_users, train.n_items))
    return recommender.score(queries_of(users), items).values


def overall_mean(ratings: np.ndarray, mean: str) -> float:
    if mean == "none" or not ratings.any():
        return 0.0
    if mean == "rows":
        return float(ratings[ratings > 0].mean())
    rows = ratings if mean == "user-means" else ratings.T
    return float(np.mean([row[row > 0].mean() for row in rows if row.any()]))


def least_squares(rests: np.ndarray, rated: np.ndarray, dampings: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Both biases from the normal equations; the solution with the smallest norm."""
    n_users, n_items = rests.shape
    matrix, right = np.zeros((n_users + n_items,) * 2), np.zeros(n_users + n_items)
    for user, item in itertools.product(range(n_users), range(n_items)):
        if rated[user, item]:
            for code in (user, n_users + item):
                right[code] += rests[user, item]
                for other in (user, n_users + item):
                    matrix[code, other] += 1.0
    matrix += np.diag(np.repeat(dampings, (n_users, n_items)))
    solution = np.linalg.pinv(matrix, rcond=1e-12) @ right
    return solution[:n_users], solution[n_users:]


def expected(ratings: np.ndarray, given: dict[str, Any]) -> np.ndarray:
    rated = ratings > 0
    overall = overall_mean(ratings, given["mean"])
    users, items = np.zeros(len(ratings)), np.zeros(ratings.shape[1])
    if given["biases"] == "both" and given["order"] == "together":
        dampings = given["user_damping"], given["item_damping"]
        users, items = least_squares(np.where(rated, ratings - overall, 0.0), rated, dampings)
    elif given["biases"] == "both" and given["order"] == "row-by-row":
        for _, user, item in itertools.product(range(given["epochs"]), range(len(users)), range(len(items))):
            if rated[user, item]:
                error = ratings[user, item] - overall - users[user] - items[item]
                users[user] += given["learning_rate"] * (error - given["user_damping"] * users[user])
                items[item] += given["learning_rate"] * (error - given["item_damping"] * items[item])
    else:
        sides = ["users", "items"] if given["order"] == "users-first" else ["items", "users"]
        for _ in range(given["epochs"] if given["biases"] == "both" else 1):
            for side in sides:
                if side == "users" and given["biases"] != "items":
                    for user in np.flatnonzero(rated.any(axis=1)):
                        rests = [ratings[user, i] - overall - items[i] for i in np.flatnonzero(rated[user])]
                        users[user] = sum(rests) / (len(rests) + given["user_damping"])
                if side == "items" and given["biases"] != "users":
                    for item in np.flatnonzero(rated.any(axis=0)):
                        rests = [ratings[u, item] - overall - users[u] for u in np.flatnonzero(rated[:, item])]
                        items[item] = sum(rests) / (len(rests) + given["item_damping"])
    scores = overall + users[:, None] + items
    if given["unknown"] == "unscored":
        scores[:, ~rated.any(axis=0)] = np.nan
    return scores


@settings(max_examples=200, deadline=None)
@given(ratings=RATINGS, given=GIVEN)
def test_every_definition_is_its_formula(table: Table, ratings: list[list[float]], given: dict[str, Any]) -> None:
    actual = block(Bias(**given), table(ratings))
    np.testing.assert_allclose(actual, expected(np.array(ratings, dtype=float), given), rtol=1e-8, atol=1e-8)


def test_more_and_more_epochs_lead_to_least_squares(table: Table) -> None:
    rng = np.random.default_rng(2)
    train = table(rng.integers(1, 6, (12, 9)) * (rng.random((12, 9)) < 0.6))
    dampings = {"user_damping": 3.0, "item_damping": 2.0}
    together = block(Bias(order="together", **dampings), train)
    for order in ("items-first", "users-first"):
        np.testing.assert_allclose(block(Bias(order=order, epochs=200, **dampings), train), together, atol=1e-10)


@pytest.mark.parametrize("order", [order for order in OPTIONS["order"] if order != "row-by-row"])
def test_dampings_belong_to_their_side(table: Table, order: str) -> None:
    """With a damping of 1e12 there are almost no biases on that side."""
    train = table([[5, 1, 0], [4, 0, 2], [0, 2, 1]])
    of_items = block(Bias(order=order, user_damping=1e12), train)
    np.testing.assert_allclose(of_items, of_items[[0]].repeat(3, axis=0), atol=1e-9)
    of_users = block(Bias(order=order, item_damping=1e12), train)
    np.testing.assert_allclose(of_users, of_users[:, [0]].repeat(3, axis=1), atol=1e-9)
