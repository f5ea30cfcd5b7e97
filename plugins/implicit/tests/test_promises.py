"""The same bits again: for a seed, for any blocks, for any order of rows; and nothing else is touched."""

from __future__ import annotations

import random
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import CheckedRecommender, parameters_of, plugins

SMALL: list[tuple[str, dict[str, Any]]] = [
    ("implicit-als", {"factors": 7, "epochs": 3}),
    ("bpr", {"factors": 9, "epochs": 5}),
    ("logistic-mf", {"factors": 5, "epochs": 3}),
    ("item-knn", {"k": 6}),
    ("item-knn", {"k": 6, "similarity": "tfidf"}),
    ("item-knn", {"k": 6, "similarity": "bm25", "num_threads": 2}),
    ("AlternatingLeastSquares", {"factors": 7, "iterations": 3, "num_threads": 2}),
    ("BayesianPersonalizedRanking", {"factors": 9, "iterations": 5}),
    ("LogisticMatrixFactorization", {"factors": 5, "iterations": 3}),
    ("CosineRecommender", {"K": 6}),
    ("TFIDFRecommender", {"K": 6}),
    ("BM25Recommender", {"K": 6}),
    ("ItemItemRecommender", {"K": 6}),
]
each = pytest.mark.parametrize(("name", "given"), SMALL, ids=str)


def codes(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int32)


def fitted(name: str, given: dict[str, Any], train: Interactions, seed: int = 5) -> CheckedRecommender:
    _, algorithm = plugins().algorithm(f"implicit/{name}")
    assert algorithm.deterministic
    recommender = plugins().recommender(f"implicit/{name}", parameters_of(algorithm, given))
    recommender.fit(train, seed=seed)
    return recommender


def bits(recommender: CheckedRecommender, users: np.ndarray, items: np.ndarray) -> np.ndarray:
    return recommender.score_users(users, items).values.view(np.uint64)


def all_bits(name: str, given: dict[str, Any], train: Interactions, seed: int = 5) -> np.ndarray:
    return bits(fitted(name, given, train, seed), codes(train.n_users), codes(train.n_items))


@each
def test_a_seed_gives_the_same_bits_and_another_one_others(
    name: str, given: dict[str, Any], movielens: Interactions
) -> None:
    first = all_bits(name, given, movielens)
    assert (all_bits(name, given, movielens) == first).all()
    drawn = "knn" not in name and "Recommender" not in name
    assert (all_bits(name, given, movielens, seed=6) != first).any() == drawn


@pytest.mark.parametrize("name", ["implicit-als", "item-knn"])
def test_threads_do_not_change_a_bit_where_it_is_said(name: str, movielens: Interactions) -> None:
    given = {"factors": 12, "epochs": 3} if name == "implicit-als" else {"k": 15}
    one = all_bits(name, {**given, "num_threads": 1}, movielens)
    for threads in (2, 3, 0):
        assert (all_bits(name, {**given, "num_threads": threads}, movielens) == one).all()


@pytest.mark.parametrize("name", ["bpr", "BayesianPersonalizedRanking"])
def test_more_threads_are_said_not_to_give_the_same_bits_where_they_do_not(name: str) -> None:
    _, algorithm = plugins().algorithm(f"implicit/{name}")
    assert algorithm.is_deterministic(parameters_of(algorithm, {}))
    assert not algorithm.is_deterministic(parameters_of(algorithm, {"num_threads": 2}))


def test_threads_are_part_of_the_seed_of_logistic_factorisation(movielens: Interactions) -> None:
    given = {"factors": 5, "epochs": 3, "num_threads": 2}
    two = all_bits("logistic-mf", given, movielens)
    assert (all_bits("logistic-mf", given, movielens) == two).all()
    assert (all_bits("logistic-mf", {**given, "num_threads": 1}, movielens) != two).any()


def test_the_solver_in_python_is_deterministic_too(train: Interactions) -> None:
    given = {"factors": 4, "epochs": 2, "use_native": False}
    assert (all_bits("implicit-als", given, train) == all_bits("implicit-als", given, train)).all()


def test_ratings_do_not_matter_to_bpr(train: Interactions) -> None:
    liked = replace(train, ratings=np.ones(len(train)))
    given = {"factors": 4, "epochs": 4}
    assert (all_bits("bpr", given, train) == all_bits("bpr", given, liked)).all()


@each
def test_nothing_is_printed_and_no_global_state_moves(
    name: str, given: dict[str, Any], train: Interactions, capfd: pytest.CaptureFixture[str]
) -> None:
    numpy_state, python_state = np.random.get_state()[1].copy(), random.getstate()  # type: ignore[index]  # noqa: NPY002
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        all_bits(name, given, train)
    assert capfd.readouterr() == ("", "")
    assert (np.random.get_state()[1] == numpy_state).all()  # type: ignore[index]  # noqa: NPY002
    assert random.getstate() == python_state
