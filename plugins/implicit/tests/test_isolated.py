"""The same versions in an environment of their own give the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import Case, parameters_of, plugins
from repro.plugin.isolation.environment import build
from repro_implicit.plugin import repro_framework

ALGORITHMS: list[tuple[str, dict[str, Any]]] = [
    ("implicit-als", {"factors": 20, "epochs": 3}),
    ("bpr", {"factors": 10, "epochs": 5}),
    ("logistic-mf", {"factors": 10, "epochs": 3}),
    ("item-knn", {"k": 20}),
    ("item-knn", {"k": 20, "similarity": "bm25"}),
]


@pytest.fixture(scope="module")
def environment() -> None:
    needs = repro_framework().environment
    assert needs is not None
    build("implicit", needs, lambda line: None)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "given"), ALGORITHMS, ids=str)
def test_in_process_and_isolated_scores_are_the_same_bits(
    name: str, given: dict[str, Any], movielens: Interactions, environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, algorithm = plugins().algorithm(f"implicit/{name}")
    users, items = np.arange(movielens.n_users, dtype=np.int32), np.arange(movielens.n_items, dtype=np.int32)
    found = []
    for apart in ("", "implicit"):
        monkeypatch.setenv("REPRO_ISOLATE", apart)
        assert plugins().location("implicit") == ("isolated" if apart else "in-process")
        recommender = plugins().recommender(f"implicit/{name}", parameters_of(algorithm, given))
        recommender.fit(movielens, seed=3)
        found.append(recommender.score(users, items))
    here, isolated = found
    assert (here.values.view(np.uint64) == isolated.values.view(np.uint64)).all()
    assert here.state is not None
    assert isolated.state is not None
    assert (here.state == isolated.state).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ranking_metrics_at_k", "functions_at_k"])
def test_evaluators_answer_the_same_in_both_places(
    name: str, case_of: Callable[..., Case], environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = case_of({1: {1: 0.9, 2: np.nan, 3: 0.4}, 2: {1: 0.1, 2: 0.2, 3: 0.3}}, {1: {3: 2.0}, 2: {1: 5.0, 3: 4.0}})
    evaluator = plugins().evaluators()[f"implicit/{name}"]
    for measure in evaluator.measures:
        found = []
        for apart in ("", "implicit"):
            monkeypatch.setenv("REPRO_ISOLATE", apart)
            found.append(plugins().evaluate(evaluator, case, measure, 2))
        assert found[0] == found[1]
