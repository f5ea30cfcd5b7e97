"""What every algorithm promises: the same bits for any blocks and any order of rows, and honest gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import SCORED, UNSCORED, CheckedRecommender, plugins

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("random", {}),
    ("popularity", {}),
    ("item-mean", {}),
    ("bias", {"user_damping": 5.0, "item_damping": 2.0}),
    ("user-knn", {"k": 4}),
    ("user-knn", {"k": 5, "similarity": "pearson", "center": "mean", "min_overlap": 3}),
    ("user-knn", {"k": 3, "neighbourhood": "all", "normalise": False}),
    ("item-knn", {"k": 4, "center": "baseline", "damping": 3.0, "shrinkage": 10.0}),
    ("item-knn", {"k": 5, "similarity": "pearson", "center": "mean"}),
    ("item-knn", {"k": 3, "normalise": False, "center": "baseline", "shrinkage": 100.0}),
    ("puresvd", {"factors": 7}),
    ("ease", {"regularisation": 3.0}),
    ("ease", {"regularisation": 10.0, "values": "ratings"}),
    ("plsa", {"factors": 5, "iterations": 12}),
    ("plsa", {"factors": 5, "iterations": 12, "inverse_temperature": 0.8}),
    ("item-conditional", {}),
    ("expected-utility", {}),
    ("expected-utility", {"probability": "prediction", "utility": "item-mean", "k": 6}),
    ("expected-utility", {"probability": "item-conditional", "utility": "prediction", "k": 6}),
]
each = pytest.mark.parametrize(("name", "parameters"), VARIANTS, ids=lambda value: str(value))
NOT_PERSONAL = {"random", "popularity", "item-mean", "bias"}


def fitted(name: str, parameters: dict[str, Any], train: Interactions, seed: int = 5) -> CheckedRecommender:
    framework, algorithm = plugins().algorithm(f"reference/{name}")
    assert algorithm.deterministic
    recommender = CheckedRecommender(algorithm.make(**parameters), f"{framework.name}/{name}")
    recommender.fit(train, seed=seed)
    return recommender


def codes(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int32)


def bits(recommender: CheckedRecommender, users: np.ndarray, items: np.ndarray) -> np.ndarray:
    return recommender.score(users, items).values.view(np.uint64)


@each
def test_scores_do_not_depend_on_who_else_is_asked_for(
    name: str, parameters: dict[str, Any], train: Interactions
) -> None:
    recommender = fitted(name, parameters, train)
    users, items = codes(train.n_users), codes(train.n_items)
    whole = bits(recommender, users, items)
    for user in users:
        assert (bits(recommender, users[[user]], items) == whole[[user]]).all()
    for start in range(0, len(users), 7):
        some_users = users[start : start + 7][::-1]
        some_items = items[start % 3 :: 3]
        assert (bits(recommender, some_users, some_items) == whole[np.ix_(some_users, some_items)]).all()
    assert (bits(recommender, users[[3, 3]], items[[8]]) == whole[np.ix_([3, 3], [8])]).all()


@each
def test_predictions_are_scores_of_pairs(name: str, parameters: dict[str, Any], train: Interactions) -> None:
    recommender = fitted(name, parameters, train)
    if not recommender.predicts:
        return
    users, items = codes(train.n_users), codes(train.n_items)
    pairs = np.random.default_rng(1).permutation(train.n_users * train.n_items)
    predicted = recommender.predict(users[pairs // train.n_items], items[pairs % train.n_items])
    block = recommender.score(users, items)
    assert (predicted.values.view(np.uint64) == block.values.ravel()[pairs].view(np.uint64)).all()
    assert block.state is not None
    assert predicted.state is not None
    assert (predicted.state == block.state.ravel()[pairs]).all()


@each
def test_the_order_of_training_rows_does_not_matter(name: str, parameters: dict[str, Any], train: Interactions) -> None:
    users, items = codes(train.n_users), codes(train.n_items)
    shuffled = train.select(np.random.default_rng(3).permutation(len(train)))
    expected = bits(fitted(name, parameters, train), users, items)
    assert (bits(fitted(name, parameters, shuffled.canonical()), users, items) == expected).all()
    assert (bits(fitted(name, parameters, shuffled), users, items) == expected).all()


@each
def test_fitting_twice_gives_the_same_bits(name: str, parameters: dict[str, Any], train: Interactions) -> None:
    users, items = codes(train.n_users), codes(train.n_items)
    recommender = fitted(name, parameters, train)
    first = bits(recommender, users, items)
    recommender.fit(train, seed=5)
    assert (bits(recommender, users, items) == first).all()


@each
def test_what_is_unknown_is_unscored(name: str, parameters: dict[str, Any], train: Interactions) -> None:
    scores = fitted(name, parameters, train).score(codes(train.n_users), codes(train.n_items))
    if name == "random":
        assert scores.state is None
        assert np.isfinite(scores.values).all()
        return
    assert scores.state is not None
    assert (np.isnan(scores.values) == (scores.state == UNSCORED)).all()
    assert set(np.unique(scores.state)) == {SCORED, UNSCORED}
    assert (scores.state[:, 28:] == UNSCORED).all()
    assert (scores.state[38:, :28] == (SCORED if name in NOT_PERSONAL else UNSCORED)).all()
    if "knn" not in name and "prediction" not in parameters.values():
        assert (scores.state[:38, :28] == SCORED).all()
