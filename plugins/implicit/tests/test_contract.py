"""The contract of plug-ins, and scores of MovieLens by blocks; the same bits in an environment of its own."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import Case
from repro.testing import IsolationContract, PluginContract, case_of, movielens_part
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

    @pytest.mark.parametrize(("name", "given"), SMALL, ids=str)
    def test_blocks_of_many_users(self, name: str, given: dict[str, Any], movielens: Interactions) -> None:
        check_blocks(self.fit(name, given, movielens, SEED), movielens)


@pytest.mark.slow
class TestIsolation(_Implicit, IsolationContract):
    algorithms: ClassVar = ISOLATED

    def train(self) -> Interactions:
        return movielens_part()
