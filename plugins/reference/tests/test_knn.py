"""Nearest neighbours: by hand, and against a plain implementation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.data.interactions import Interactions
from repro.plugin import UNSCORED
from repro.testing import queries_of
from repro_reference.bias import Bias
from repro_reference.knn import ItemKNN, NearestNeighbours, UserKNN

Table = Callable[[Any], Interactions]
NAN = math.nan
# Users: cos(1, 2) = (3*4 + 4*3) / (5*5) = 24/25, cos(1, 3) = 3*5 / (5*13) = 3/13, cos(2, 3) = 4*5 / (5*13) = 4/13.
# Items: cos(1, 2) = 24 / (5 sqrt(50)), cos(1, 3) = 5*12 / (12 sqrt(50)) = 1 / sqrt(2), cos(2, 3) = 0.
RATINGS = [[3, 4, 0, 0], [4, 3, 0, 0], [5, 0, 12, 0]]


def block(recommender: NearestNeighbours, train: Interactions) -> np.ndarray:
    recommender.fit(train, seed=1)
    users, items = np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)
    scores = recommender.score(queries_of(users), items)
    assert scores.state is not None
    assert (np.isnan(scores.values) == (scores.state == UNSCORED)).all()
    return scores.values


def test_user_knn_is_the_weighted_mean_of_users_who_rated(table: Table) -> None:
    actual = block(UserKNN(), table(RATINGS))
    both = (24 / 25 * 4 + 3 / 13 * 5) / (24 / 25 + 3 / 13)
    np.testing.assert_allclose(actual[0], [both, 3, 12, NAN])
    assert actual[2, 1] == pytest.approx((3 * 4 + 4 * 3) / (3 + 4))


def test_user_knn_not_normalised_is_the_weighted_sum(table: Table) -> None:
    actual = block(UserKNN(normalise=False), table(RATINGS))
    np.testing.assert_allclose(actual[0], [24 / 25 * 4 + 3 / 13 * 5, 24 / 25 * 3, 3 / 13 * 12, NAN])


def test_cosine_over_positive_ratings(table: Table) -> None:
    """Gunawardana & Shani (2009), 6.2.2. Users 1 and 2 both like item 1 alone: 2 * 1 / (sqrt(4 + 1) sqrt(1 + 9));
    users 1 and 3 both like item 3: 1 * 4 / (sqrt(5) 4). User 2 rated item 4 with 3, user 3 with -2."""
    ratings = [[2, -1, 1, 0], [1, -4, 0, 3], [-2, 0, 4, -2]]
    parameters = {"positive": True, "divisor": "absolute", "normalise": True}
    first, second = 2 / math.sqrt(50), 1 / math.sqrt(5)
    actual = block(UserKNN(**parameters), table(ratings))
    assert actual[0, 3] == pytest.approx((first * 3 - second * 2) / (first + second))
    binary = block(UserKNN(positive=True, input="ones", normalise=False, contributions="ones"), table(ratings))
    assert binary[0, 3] == pytest.approx((1 + 1 + 1) / (3 + 0) * 0 + 2 / math.sqrt(9) + 2 / math.sqrt(9))


def test_item_knn_is_the_weighted_mean_of_the_users_own_ratings(table: Table) -> None:
    """Item 2 has nobody in common with item 3, so each is scored through item 1 alone."""
    actual = block(ItemKNN(), table(RATINGS))
    assert actual[0, 2] == pytest.approx(3)
    assert actual[2, 1] == pytest.approx(5)
    assert np.isnan(actual[:, 3]).all()


def test_item_knn_not_normalised_is_the_weighted_sum(table: Table) -> None:
    actual = block(ItemKNN(normalise=False), table(RATINGS))
    assert actual[0, 2] == pytest.approx(3 / math.sqrt(2))
    assert actual[2, 1] == pytest.approx(5 * 24 / (5 * math.sqrt(50)))


def test_the_nearest_are_sought_among_those_who_rated_or_among_all(table: Table) -> None:
    """User 1's nearest is user 2, who did not rate item 3; user 3 did."""
    train = table(RATINGS)
    assert block(UserKNN(k=1, neighbourhood="rated"), train)[0, 2] == pytest.approx(12)
    assert np.isnan(block(UserKNN(k=1, neighbourhood="all"), train)[0, 2])
    assert block(UserKNN(k=2, neighbourhood="all"), train)[0, 2] == pytest.approx(12)
    assert block(UserKNN(k=1, neighbourhood="rated"), train)[2, 1] == pytest.approx(3)


def test_of_equally_near_users_the_lower_id_comes_first(table: Table) -> None:
    """Users 2 and 3 have the cosine 1 / sqrt(14) with user 1."""
    assert block(UserKNN(k=1), table([[1, 0, 0], [1, 2, 3], [1, 3, 2]]))[0, 2] == pytest.approx(3)
    assert block(UserKNN(k=1), table([[1, 0, 0], [1, 3, 2], [1, 2, 3]]))[0, 2] == pytest.approx(2)


def test_resnicks_formula(table: Table) -> None:
    """User 2 rates like user 1 but one higher: correlation 1, means 2 and 3.5, so 2 + (5 - 3.5)."""
    actual = block(UserKNN(similarity="pearson", center="mean"), table([[1, 2, 3, 0], [2, 3, 4, 5]]))
    assert actual[0, 3] == pytest.approx(3.5)


def test_who_correlates_negatively_is_no_neighbour(table: Table) -> None:
    actual = block(UserKNN(similarity="pearson"), table([[1, 2, 3, 0], [3, 2, 1, 5]]))
    assert np.isnan(actual).all()


def test_item_means_as_center(table: Table) -> None:
    """Item 2 is like item 1 (cosine positive); means 2 and 4: user 3 is one above the mean of item 1."""
    actual = block(ItemKNN(center="mean"), table([[1, 3], [2, 5], [3, 0]]))
    assert actual[2, 1] == pytest.approx(4 + 1)


def plain_similarity(x: list[float], y: list[float], kind: str, shrinkage: float, min_overlap: int) -> float:
    common = [(a, b) for a, b in zip(x, y, strict=True) if a and b]
    n = len(common)
    if n < min_overlap or not n:
        return 0.0
    if kind == "cosine":
        norm = math.sqrt(sum(a * a for a in x) * sum(b * b for b in y))
        return sum(a * b for a, b in common) / norm * (n / (n + shrinkage))
    sum_x, sum_y = sum(a for a, _ in common), sum(b for _, b in common)
    spread_x = n * sum(a * a for a, _ in common) - sum_x**2
    spread_y = n * sum(b * b for _, b in common) - sum_y**2
    if not spread_x or not spread_y:
        return 0.0
    return (n * sum(a * b for a, b in common) - sum_x * sum_y) / math.sqrt(spread_x * spread_y) * (n / (n + shrinkage))


def plain_score(rows: np.ndarray, centers: np.ndarray, target: int, column: int, parameters: dict[str, Any]) -> float:
    """The score of row ``target`` for ``column``, from the rows most like it."""
    options = (parameters["similarity"], parameters["shrinkage"], parameters["min_overlap"])
    near = [
        (-plain_similarity(rows[target].tolist(), rows[other].tolist(), *options), other)
        for other in range(len(rows))
        if other != target
    ]
    near = sorted((minus, other) for minus, other in near if minus < 0)
    if parameters["neighbourhood"] == "all":
        near = near[: parameters["k"]]
    near = [(minus, other) for minus, other in near if rows[other, column]][: parameters["k"]]
    if not near:
        return NAN
    total = sum(-minus * (rows[other, column] - centers[other, column]) for minus, other in near)
    weight = sum(-minus for minus, _ in near) if parameters["normalise"] else 1.0
    return float(centers[target, column] + total / weight)


def plain_centers(ratings: np.ndarray, kind: type[NearestNeighbours], center: str, train: Interactions) -> np.ndarray:
    if center == "baseline":
        bias = Bias(user_damping=2.0, item_damping=2.0)
        bias.fit(train, seed=1)
        return bias.baseline_.block(np.arange(train.n_users), np.arange(train.n_items))  # type: ignore[arg-type]
    axis = 1 if kind is UserKNN else 0
    counts = np.maximum((ratings > 0).sum(axis=axis, keepdims=True), 1)
    means = ratings.sum(axis=axis, keepdims=True) / counts
    return np.broadcast_to(means if center == "mean" else 0.0, ratings.shape)


@settings(max_examples=60, deadline=None)
@given(
    ratings=st.integers(3, 7).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 5), min_size=n, max_size=n), min_size=3, max_size=7)
    ),
    kind=st.sampled_from([UserKNN, ItemKNN]),
    parameters=st.fixed_dictionaries(
        {
            "k": st.integers(1, 4),
            "similarity": st.sampled_from(["cosine", "pearson"]),
            "normalise": st.booleans(),
            "center": st.sampled_from(["none", "mean", "baseline"]),
            "user_damping": st.just(2.0),
            "item_damping": st.just(2.0),
            "shrinkage": st.sampled_from([0.0, 3.0]),
            "min_overlap": st.integers(1, 3),
            "neighbourhood": st.sampled_from(["rated", "all"]),
        }
    ),
)
def test_agrees_with_a_plain_implementation(
    table: Table, ratings: list[list[int]], kind: type[NearestNeighbours], parameters: dict[str, Any]
) -> None:
    train = table(ratings)
    complete = np.array(ratings, dtype=float)
    centers = plain_centers(complete, kind, parameters["center"], train)
    rows, row_centers = (complete, centers) if kind is UserKNN else (complete.T, centers.T)
    expected = np.array(
        [
            [plain_score(rows, row_centers, target, column, parameters) for column in range(rows.shape[1])]
            for target in range(rows.shape[0])
        ]
    )
    actual = block(kind(**parameters), train)
    np.testing.assert_allclose(actual, expected if kind is UserKNN else expected.T, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), min_size=6, max_size=6), min_size=3, max_size=6))
def test_a_weighted_mean_stays_on_the_rating_scale(table: Table, ratings: list[list[int]]) -> None:
    if not np.any(ratings):
        return
    for kind in (UserKNN, ItemKNN):
        actual = block(kind(k=2), table(ratings))
        given = np.array(ratings)[np.array(ratings) > 0]
        scored = actual[~np.isnan(actual)]
        assert ((scored >= given.min() - 1e-9) & (scored <= given.max() + 1e-9)).all()
