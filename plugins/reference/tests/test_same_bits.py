"""The number of threads, the size of blocks and the kernel that adds up change no bit of a score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import Recommender, make_recommender, parameters_of, plugins
from repro.testing import queries_of, ratings_table
from repro_reference import parallel

CASES: list[tuple[str, dict[str, Any]]] = [
    ("item-knn", {"k": 3}),
    ("item-knn", {"k": 6, "similarity": "pearson", "center": "mean", "negatives": True}),
    ("item-knn", {"k": 9, "neighbourhood": "neighbour", "normalise": False}),
    ("item-knn", {"k": 4, "neighbourhood": "all", "shrinkage": 3.0, "ties": "higher"}),
    ("user-knn", {"k": 3}),
    ("user-knn", {"k": 7, "neighbourhood": "all", "normalise": False}),
    ("ease", {"regularisation": 3.0}),
    ("ease", {"regularisation": 3.0, "penalty": "count"}),
    ("slim", {"l1": 0.2, "l2": 0.5}),
    ("rp3beta", {"k": 8}),
    ("rp3beta", {}),
    ("puresvd", {"factors": 6}),
]


@pytest.fixture(scope="module", params=["many users", "many items"])
def rows(request: pytest.FixtureRequest) -> Interactions:
    """Sparse for user-knn, and dense for item-knn; with a user and an item that have no rows."""
    shape = (130, 70) if request.param == "many users" else (70, 150)
    rng = np.random.default_rng(6)
    ratings = rng.integers(1, 6, shape) * (rng.random(shape) < 0.06)
    ratings[5], ratings[:, 7] = 0, 0
    return ratings_table(ratings)


def fitted(name: str, parameters: dict[str, Any], train: Interactions) -> Recommender:
    _, algorithm = plugins().algorithm(f"reference/{name}")
    recommender = make_recommender(algorithm, parameters_of(algorithm, parameters), name)
    recommender.fit(train, seed=1)
    return recommender


def bits(recommender: Recommender, train: Interactions, at_once: int) -> np.ndarray:
    users, items = (np.arange(size, dtype=np.int32) for size in (train.n_users, train.n_items))
    blocks = [users[start : start + at_once] for start in range(0, len(users), at_once)]
    return np.concatenate([recommender.score(queries_of(block), items).values for block in blocks]).view(np.uint64)


@pytest.mark.parametrize(("name", "parameters"), CASES, ids=str)
def test_threads_and_blocks(
    monkeypatch: pytest.MonkeyPatch, rows: Interactions, name: str, parameters: dict[str, Any]
) -> None:
    expected = bits(fitted(name, parameters, rows), rows, 64)
    assert len(np.unique(expected)) > 100
    monkeypatch.setattr(parallel, "FEWEST", 5)
    for threads in (1, 3):
        monkeypatch.setattr(parallel, "threads", lambda threads=threads: threads)
        recommender = fitted(name, parameters, rows)
        for at_once in (1, 30, 1000):
            np.testing.assert_array_equal(bits(recommender, rows, at_once), expected)
    some = np.arange(0, rows.n_items, 3, dtype=np.int32)
    chosen = recommender.score(queries_of(np.arange(rows.n_users, dtype=np.int32)), some).values.view(np.uint64)
    np.testing.assert_array_equal(chosen, expected[:, some])
