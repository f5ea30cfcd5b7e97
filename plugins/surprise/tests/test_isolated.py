"""In this process and in an environment of its own: the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from repro.data.interactions import Interactions
from repro.plugin import Case, CheckedRecommender, plugins
from repro.plugin.isolation import environment

CASES: list[tuple[str, dict[str, Any]]] = [
    ("random", {}),
    ("bias", {}),
    ("biased-mf", {}),
    ("svd++", {"epochs": 1, "cache_ratings": True}),
    ("nmf", {"epochs": 5}),
    ("slope-one", {}),
    ("co-clustering", {"epochs": 5}),
    ("user-knn", {"center": "z-score", "similarity": "pearson"}),
    ("item-knn", {"center": "baseline", "similarity": "pearson_baseline"}),
]


def scores(recommender: CheckedRecommender, train: Interactions) -> list[np.ndarray]:
    with threadpool_limits(1):  # as a study does, and as a worker is started
        recommender.fit(train, seed=3)
        block = recommender.score(
            np.arange(0, train.n_users, 7, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)
        )
        pairs = recommender.predict(train.users[::11], train.items[::11])
    states = [np.zeros(1) if one.state is None else one.state for one in (block, pairs)]
    return [block.values, pairs.values, *states]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), CASES, ids=lambda value: str(value))
def test_a_worker_gives_the_same_bits(
    name: str, parameters: dict[str, Any], ml100k: Interactions, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = plugins().framework("surprise").environment
    assert needs is not None
    environment.build("surprise", needs, print)
    here = scores(plugins().recommender(f"surprise/{name}", parameters), ml100k)
    monkeypatch.setenv("REPRO_ISOLATE", "surprise")
    assert plugins().location("surprise") == "isolated"
    apart = scores(plugins().recommender(f"surprise/{name}", parameters), ml100k)
    assert [one.tobytes() for one in here] == [one.tobytes() for one in apart]


@pytest.mark.slow
def test_evaluators_answer_the_same_in_both_places(
    case_of: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = plugins().framework("surprise").environment
    assert needs is not None
    environment.build("surprise", needs, print)
    scores = {1: {1: 3.5, 2: 6.0, 3: 1.5}, 2: {1: 2.0, 2: 2.0, 3: 5.0}}
    case = case_of(scores, {1: {2: 4.0, 3: 2.0}, 2: {1: 5.0, 3: 4.0}}, fallback=[(2, 1)])
    for name in ("surprise/accuracy", "surprise/test"):
        evaluator = plugins().evaluators()[name]
        for measure in evaluator.measures:
            monkeypatch.setenv("REPRO_ISOLATE", "")
            here = plugins().evaluate(evaluator, case, measure, None)
            monkeypatch.setenv("REPRO_ISOLATE", "surprise")
            assert plugins().evaluate(evaluator, case, measure, None) == here
