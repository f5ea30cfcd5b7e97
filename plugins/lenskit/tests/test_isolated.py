"""The same versions in an environment of their own give the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from repro.data.interactions import Interactions
from repro.plugin import Case, parameters_of, plugins
from repro.plugin.isolation.environment import build
from repro_lenskit.plugin import repro_evaluators, repro_framework

ALGORITHMS: list[tuple[str, dict[str, Any]]] = [
    ("random", {}),
    ("popularity", {}),
    ("bias", {}),
    ("user-knn", {"k": 10}),
    ("item-knn", {"k": 10}),
    ("biased-mf", {"factors": 20, "epochs": 3}),
    ("implicit-als", {"factors": 20, "epochs": 3}),
    ("ease", {}),
    ("slim", {"l1": 20.0, "max_iters": 10}),
    ("nmf", {"factors": 5, "epochs": 10}),
    ("bpr", {"factors": 16, "epochs": 2}),
    ("FunkSVDScorer", {"embedding_size": 10, "epochs": 5}),
    ("BiasedSVDScorer", {"embedding_size": 10}),
    ("FlexMFExplicitScorer", {"embedding_size": 16, "epochs": 2}),
]


@pytest.fixture(scope="module")
def environment() -> None:
    needs = repro_framework().environment
    assert needs is not None
    build("lenskit", needs, lambda line: None)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "given"), ALGORITHMS, ids=str)
def test_in_process_and_isolated_scores_are_the_same_bits(
    name: str, given: dict[str, Any], movielens: Interactions, environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, algorithm = plugins().algorithm(f"lenskit/{name}")
    users, items = np.arange(0, movielens.n_users, 4, dtype=np.int32), np.arange(movielens.n_items, dtype=np.int32)
    found = []
    for apart in ("", "lenskit"):
        monkeypatch.setenv("REPRO_ISOLATE", apart)
        assert plugins().location("lenskit") == ("isolated" if apart else "in-process")
        with threadpool_limits(1):  # as a study has it
            recommender = plugins().recommender(f"lenskit/{name}", parameters_of(algorithm, given))
            recommender.fit(movielens, seed=3)
            found.append(recommender.score(users, items))
    here, isolated = found
    assert (here.values.view(np.uint64) == isolated.values.view(np.uint64)).all()
    assert (here.state is None) == (isolated.state is None)
    assert here.state is None or (here.state == isolated.state).all()


@pytest.mark.slow
def test_in_process_and_isolated_splits_hold_out_the_same_rows(
    movielens: Interactions, environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = movielens.select(movielens.users < 100)
    stated = {"size": 20, "holdout": "SampleFrac", "n": 5, "frac": 0.3, "repeats": 2, "disjoint": True}
    found = []
    for apart in ("", "lenskit"):
        monkeypatch.setenv("REPRO_ISOLATE", apart)
        found.append(plugins().split("lenskit/sample_users", rows, 3, dict(stated)))
    for here, isolated in zip(*found, strict=True):
        assert all((ours == theirs).all() for ours, theirs in zip(here, isolated, strict=True))


@pytest.mark.slow
def test_evaluators_answer_the_same_in_both_places(
    case_of: Callable[..., Case], environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = {1: {1: 3.5, 2: 4.0, 3: 1.5}, 2: {1: 2.0, 2: 2.0, 3: 5.0}}
    case = case_of(scores, {1: {3: 2.0}, 2: {1: 5.0, 3: 4.0}}, {1: {1: 3.0}, 9: {1: 2.0, 2: 1.0, 3: 5.0}})
    for evaluator in repro_evaluators():
        for measure, metric in evaluator.measures.items():
            found = []
            for apart in ("", "lenskit"):
                monkeypatch.setenv("REPRO_ISOLATE", apart)
                found.append(plugins().evaluate(evaluator, case, measure, 2 if "@" in metric else None))
            assert found[0] == found[1]
