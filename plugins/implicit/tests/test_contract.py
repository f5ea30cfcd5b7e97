"""The contract of plug-ins, also on MovieLens and in implicit's own environment; seeds and threads."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import Case, parameters_of, plugins
from repro.testing import IsolationContract, PluginContract, all_bits, case_of, movielens_part
from repro.testing.checks import SEED, check_blocks

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
ISOLATED: list[tuple[str, dict[str, Any]]] = [
    ("implicit-als", {"factors": 20, "epochs": 3}),
    ("bpr", {"factors": 10, "epochs": 5}),
    ("logistic-mf", {"factors": 10, "epochs": 3}),
    ("item-knn", {"k": 20}),
    ("item-knn", {"k": 20, "similarity": "bm25"}),
]


class _Implicit:
    plugin = "repro_implicit.plugin"

    def case(self) -> Case:
        scores = {1: {1: 0.9, 2: np.nan, 3: 0.4}, 2: {1: 0.1, 2: 0.2, 3: 0.3}}
        return case_of(scores, {1: {3: 2.0}, 2: {1: 5.0, 3: 4.0}})


class TestContract(_Implicit, PluginContract):
    algorithms: ClassVar = SMALL

    def test_blocks_of_many_users(self, algorithm: str, parameters: dict[str, Any], movielens: Interactions) -> None:
        check_blocks(self.fit(algorithm, parameters, movielens, SEED), movielens)


@pytest.mark.slow
class TestIsolation(_Implicit, IsolationContract):
    algorithms: ClassVar = ISOLATED

    def train(self) -> Interactions:
        return movielens_part()


each = pytest.mark.parametrize(("name", "parameters"), SMALL, ids=str)


@each
def test_a_seed_gives_the_same_bits_and_another_one_others(
    name: str, parameters: dict[str, Any], movielens: Interactions
) -> None:
    first = all_bits(f"implicit/{name}", parameters, movielens)
    assert (all_bits(f"implicit/{name}", parameters, movielens) == first).all()
    drawn = "knn" not in name and "Recommender" not in name
    assert (all_bits(f"implicit/{name}", parameters, movielens, seed=6) != first).any() == drawn


@each
def test_nothing_is_printed_and_no_warning_is_raised(
    name: str, parameters: dict[str, Any], train: Interactions, capfd: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        all_bits(f"implicit/{name}", parameters, train)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["implicit-als", "item-knn"])
def test_threads_do_not_change_scores_where_declared(name: str, movielens: Interactions) -> None:
    parameters = {"factors": 12, "epochs": 3} if name == "implicit-als" else {"k": 15}
    expected = all_bits(f"implicit/{name}", {**parameters, "num_threads": 1}, movielens)
    for threads in (2, 3, 0):
        assert (all_bits(f"implicit/{name}", {**parameters, "num_threads": threads}, movielens) == expected).all()


@pytest.mark.parametrize("name", ["bpr", "BayesianPersonalizedRanking"])
def test_more_threads_are_declared_not_deterministic(name: str) -> None:
    _, algorithm = plugins().algorithm(f"implicit/{name}")
    assert algorithm.is_deterministic(parameters_of(algorithm, {}))
    assert not algorithm.is_deterministic(parameters_of(algorithm, {"num_threads": 2}))


def test_logistic_factorisation_depends_on_the_number_of_threads(movielens: Interactions) -> None:
    parameters = {"factors": 5, "epochs": 3, "num_threads": 2}
    two = all_bits("implicit/logistic-mf", parameters, movielens)
    assert (all_bits("implicit/logistic-mf", parameters, movielens) == two).all()
    assert (all_bits("implicit/logistic-mf", {**parameters, "num_threads": 1}, movielens) != two).any()


def test_the_solver_in_python_is_deterministic_too(train: Interactions) -> None:
    parameters = {"factors": 4, "epochs": 2, "use_native": False}
    assert (
        all_bits("implicit/implicit-als", parameters, train) == all_bits("implicit/implicit-als", parameters, train)
    ).all()


def test_bpr_ignores_ratings(train: Interactions) -> None:
    liked = replace(train, ratings=np.ones(len(train)))
    parameters = {"factors": 4, "epochs": 4}
    assert (all_bits("implicit/bpr", parameters, train) == all_bits("implicit/bpr", parameters, liked)).all()
