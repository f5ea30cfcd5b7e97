"""RecBole's environment, built if it is not there; MovieLens 100K; and RecBole itself beside the plug-in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import repro
from repro.data.interactions import Interactions
from repro.plugin import CheckedRecommender, parameters_of, plugins

SEED = 11
Run = tuple[str, dict[str, Any]]
Inside = Callable[..., str]
Fitted = Callable[..., CheckedRecommender]
RecBoleItself = Callable[[str], npt.NDArray[np.float64]]

# RecBole's own names and settings of what the default test run compares with RecBole itself.
QUICK: dict[str, Run] = {
    "popularity": ("Pop", {}),
    "user-knn": ("ItemKNN", {"k": 30, "knn_method": "user"}),
    "item-knn": ("ItemKNN", {"k": 20, "shrink": 5.0}),
    "ease": ("EASE", {}),
    "bpr": ("BPR", {"embedding_size": 16, "epochs": 2, "weight_decay": 0.001}),
}


@pytest.fixture(scope="session")
def python() -> Iterator[Path]:
    """The interpreter of RecBole's environment, which is used even where RecBole could run in this process."""
    command = [sys.executable, "-m", "repro", "plugins", "install", "recbole", "--json"]
    built = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRO_ISOLATE", "recbole")
        assert plugins().location("recbole") == "isolated"
        yield Path(built["recbole"])


@pytest.fixture(scope="session")
def train() -> Interactions:
    """Four fifths of MovieLens 100K; the first six users and eight items have no rows."""
    rows = repro.load_dataset("ml-100k")
    return rows.select((rows.users > 5) & (rows.items > 7) & (np.arange(len(rows)) % 5 > 0))


@pytest.fixture(scope="session")
def some(train: Interactions) -> Interactions:
    """A small part of it: 90 users and 250 items have rows."""
    return train.select((train.users < 96) & (train.items < 258))


@pytest.fixture(scope="session")
def fitted(python: Path) -> Fitted:
    """A recommender in RecBole's environment that has learnt."""

    def fit(name: str, parameters: dict[str, Any], train: Interactions, seed: int = SEED) -> CheckedRecommender:
        _, algorithm = plugins().algorithm(f"recbole/{name}")
        recommender = plugins().recommender(f"recbole/{name}", parameters_of(algorithm, parameters))
        recommender.fit(train, seed=seed)
        return recommender

    return fit


@pytest.fixture(scope="session")
def inside(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Inside:
    """Runs one of the scripts beside this file in RecBole's environment, as a worker would be run; what it prints."""
    packages = tmp_path_factory.mktemp("packages")
    for package in plugins().launch("recbole").packages:
        (packages / package.name).symlink_to(package)

    def run(script: str, *arguments: str, folder: Path) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment |= {"PYTHONPATH": str(packages), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        path = Path(__file__).parent / script
        done = subprocess.run(
            [python, path, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def compare(inside: Inside, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """What RecBole itself gives, run after run, for users (those with rows, from the first) and all items."""

    def run(
        train: Interactions, runs: Sequence[Run], users: int, seeds: Sequence[int] = ()
    ) -> list[npt.NDArray[np.float64]]:
        folder = tmp_path_factory.mktemp("itself")
        rows = train.canonical()
        ids = {"user_ids": train.user_ids[:users].astype(str), "item_ids": train.item_ids.astype(str)}
        np.savez(
            folder / "rows.npz",
            users=train.user_ids[rows.users].astype(str),
            items=train.item_ids[rows.items].astype(str),
            ratings=rows.ratings,
            **ids,
        )
        request = {"seed": SEED, "runs": runs, "seeds": list(seeds)}
        (folder / "request.json").write_text(json.dumps(request))
        inside("recbole_itself.py", str(folder), folder=folder)
        with np.load(folder / "scores.npz") as scores:
            return [scores[str(n)] for n in range(len(runs))]

    return run


@pytest.fixture(scope="session")
def recbole_itself(compare: Callable[..., Any], train: Interactions) -> RecBoleItself:
    """What RecBole itself gives for the runs of QUICK, all in one process: it takes seconds to start."""
    scores = dict(zip(QUICK, compare(train, list(QUICK.values()), train.n_users), strict=True))
    return lambda name: scores[name]
