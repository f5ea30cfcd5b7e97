"""Spark's environment, built if it is not there; and MovieLens 100K."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import repro
from repro.data.interactions import Interactions
from repro.plugin import CheckedRecommender, parameters_of, plugins
from repro.plugin.isolation.environment import build
from repro_spark.environment import ENVIRONMENT


@pytest.fixture(scope="session")
def python() -> Iterator[Path]:
    """The interpreter of Spark's environment, which is used even where Spark could run in this process."""
    built = build("spark", ENVIRONMENT, print)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRO_ISOLATE", "spark")
        assert plugins().location("spark") == "isolated"
        yield built


@pytest.fixture(scope="session")
def train() -> Interactions:
    """Four fifths of MovieLens 100K; the first six users and eight items have no rows."""
    rows = repro.load_dataset("ml-100k")
    return rows.select((rows.users > 5) & (rows.items > 7) & (np.arange(len(rows)) % 5 > 0))


@pytest.fixture(scope="session")
def some(train: Interactions) -> Interactions:
    """A small part of it: some 90 users and 240 items have rows."""
    return train.select((train.users < 96) & (train.items < 258))


@pytest.fixture(scope="session")
def make(python: Path) -> Callable[..., CheckedRecommender]:
    """A recommender in Spark's environment."""

    def made(name: str, parameters: dict[str, Any]) -> CheckedRecommender:
        _, algorithm = plugins().algorithm(f"spark/{name}")
        return plugins().recommender(f"spark/{name}", parameters_of(algorithm, parameters))

    return made


@pytest.fixture(scope="session")
def fitted(make: Callable[..., CheckedRecommender]) -> Callable[..., CheckedRecommender]:
    """One that has learnt."""

    def fit(name: str, parameters: dict[str, Any], train: Interactions, seed: int = 11) -> CheckedRecommender:
        recommender = make(name, parameters)
        recommender.fit(train, seed=seed)
        return recommender

    return fit


@pytest.fixture(scope="session")
def inside(python: Path) -> Callable[..., None]:
    """Runs one of the scripts beside this file in Spark's environment."""

    def run(script: str, *arguments: str) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        path = Path(__file__).parent / script
        done = subprocess.run([python, path, *arguments], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    return run
