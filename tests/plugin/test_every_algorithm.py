"""Every algorithm of every plug-in, under each of its names: a seed gives the same bits, and strangers do no harm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repro.data import Interactions
from repro.plugin import SCORED, UNSCORED, CheckedRecommender, Scores, parameters_of, plugins
from repro.plugin.isolation import environment

USERS, ITEMS, STRANGERS = 50, 40, 3
# Small and quick, for whichever algorithm has a parameter of that name.
QUICK: dict[str, Any] = {
    **dict.fromkeys(("epochs", "n_epochs", "iterations", "max_epochs", "maxIter", "max_iters", "n_iter"), 2),
    **dict.fromkeys(("num_epochs", "max_iter", "n_enc_epochs"), 1),
    **dict.fromkeys(("factors", "n_factors", "num_components", "rank", "latent"), 4),
    "cutoff": "1970-02-01",
    "hidden": 8,
    "num_conv_kernel": 8,
}
# What these cannot do with so few users and items otherwise.
FEW = {
    "lenskit/BiasedSVDScorer": {"embedding_size": 4},
    "recbole/DGCF": {"train_batch_size": 32},
    "recpack/ItemPNN": {"K": 20, "pdf": "uniform"},
}
NOT_DETERMINISTIC = {"external/command", "rectools/puresvd", "rectools/PureSVDModel"}
NAMES = [
    f"{framework.name}/{algorithm.name}"
    for framework in plugins().frameworks.values()
    for algorithm in framework.algorithms
]


@pytest.fixture(scope="module")
def train() -> Interactions:
    """A third of the pairs is rated; the last users and items have no rows."""
    rng = np.random.default_rng(12)
    users, items = np.nonzero(rng.random((USERS - STRANGERS, ITEMS - STRANGERS)) < 0.33)
    order = rng.permutation(len(users))
    return Interactions(
        users[order].astype(np.int32),
        items[order].astype(np.int32),
        rng.integers(1, 6, len(users)).astype(np.float64),
        rng.permutation(len(users)).astype(np.int64) * 86_400,
        np.arange(USERS),
        np.arange(ITEMS),
    )


@pytest.fixture
def make(tmp_path):
    """A new recommender, in this process or in a worker of an environment that is built if it is not there."""
    (tmp_path / "scores.csv").write_text("user,item,score\n1,2,3\n")
    elsewhere = {
        "external/file": {"path": str(tmp_path / "scores.csv")},
        "external/command": {"command": "cat {train}", "columns": "score=3"},
    }

    def of(name: str) -> CheckedRecommender:
        framework, algorithm = plugins().algorithm(name)
        if plugins().location(framework.name) == "missing":
            environment.build(framework.name, framework.environment, print)
        stated = {first.name: QUICK[first.name] for first in algorithm.parameters if first.name in QUICK}
        stated |= FEW.get(name, {}) | elsewhere.get(name, {})
        return plugins().recommender(name, parameters_of(algorithm, stated))

    return of


def codes(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int32)


def check(scores: Scores, unknown: np.ndarray) -> None:
    """Whatever is said of strangers is a number, or is said to be none; and not all of it is about strangers."""
    state = np.zeros(scores.values.shape) if scores.state is None else scores.state
    assert np.isfinite(scores.values[state != UNSCORED]).all()
    assert (state[~unknown] == SCORED).any()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_the_same_bits_and_strangers_can_be_asked_about(name: str, train: Interactions, make) -> None:
    users, items = codes(USERS), codes(ITEMS)
    unknown = (users >= USERS - STRANGERS)[:, None] | (items >= ITEMS - STRANGERS)[None, :]
    answers = []
    for _ in range(2):
        recommender = make(name)
        recommender.fit(train, seed=2**40 + 7)
        block = recommender.score_users(users, items)
        check(block, unknown)
        answers.append([block])
        if recommender.predicts:
            pairs = recommender.predict_pairs(users.repeat(ITEMS), np.tile(items, USERS))
            check(pairs, unknown.ravel())
            answers[-1].append(pairs)
    _, algorithm = plugins().algorithm(name)
    assert algorithm.deterministic == (name not in NOT_DETERMINISTIC)
    for first, again in zip(*answers, strict=True) if algorithm.deterministic else ():
        assert first.values.tobytes() == again.values.tobytes()
        assert (first.state is None) == (again.state is None)
        assert first.state is None or first.state.tobytes() == again.state.tobytes()
