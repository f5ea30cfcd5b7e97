"""RecPack's environment, built if it is not there; MovieLens 100K; and RecPack itself beside the plug-in."""

from __future__ import annotations

import json
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
from repro_recpack.environment import ENVIRONMENT

Inside = Callable[..., str]
Fitted = Callable[..., CheckedRecommender]


@pytest.fixture(scope="session")
def python() -> Iterator[Path]:
    """The interpreter of RecPack's environment, which is used even where RecPack could run in this process."""
    built = build("recpack", ENVIRONMENT, print)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRO_ISOLATE", "recpack")
        assert plugins().location("recpack") == "isolated"
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
def fitted(python: Path) -> Fitted:
    """A recommender in RecPack's environment that has learnt."""

    def fit(name: str, parameters: dict[str, Any], train: Interactions, seed: int = 11) -> CheckedRecommender:
        _, algorithm = plugins().algorithm(f"recpack/{name}")
        recommender = plugins().recommender(f"recpack/{name}", parameters_of(algorithm, parameters))
        recommender.fit(train, seed=seed)
        return recommender

    return fit


@pytest.fixture(scope="session")
def inside(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Inside:
    """Runs one of the scripts beside this file in RecPack's environment, as a worker would be run; what it prints."""
    packages = tmp_path_factory.mktemp("packages")
    for package in plugins().launch("recpack").packages:
        (packages / package.name).symlink_to(package)

    def run(script: str, *arguments: str) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment |= {"PYTHONPATH": str(packages), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        path = Path(__file__).parent / script
        done = subprocess.run([python, path, *arguments], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def constructors(inside: Inside) -> dict[str, dict[str, Any]]:
    """The parameters of RecPack's classes, with their defaults."""
    found: dict[str, dict[str, Any]] = json.loads(inside("constructors.py"))
    return found
