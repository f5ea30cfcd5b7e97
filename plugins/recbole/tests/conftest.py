"""RecBole's environment, built if it is not there; MovieLens 100K; and RecBole itself beside the plug-in."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from repro.data.interactions import Interactions
from repro.testing import IsolatedFramework, isolated_fixture

SEED = 11
Run = tuple[str, dict[str, Any]]
Inside = Callable[..., str]
RecBoleItself = Callable[[str], npt.NDArray[np.float64]]

# RecBole's own names and settings of what the default test run compares with RecBole itself.
QUICK: dict[str, Run] = {
    "popularity": ("Pop", {}),
    "user-knn": ("ItemKNN", {"k": 30, "knn_method": "user"}),
    "item-knn": ("ItemKNN", {"k": 20, "shrink": 5.0}),
    "ease": ("EASE", {}),
    "bpr": ("BPR", {"embedding_size": 16, "epochs": 2, "weight_decay": 0.001}),
}


framework = isolated_fixture("recbole")


@pytest.fixture(scope="session")
def train(four_fifths: Interactions) -> Interactions:
    return four_fifths


@pytest.fixture(scope="session")
def inside(framework: IsolatedFramework) -> Inside:
    """Runs one of the scripts beside this file in RecBole's environment, as a worker would be run; what it prints."""

    def run(script: str, *arguments: str, folder: Path) -> str:
        return framework.run(Path(__file__).parent / script, *arguments, folder=folder)

    return run


@pytest.fixture(scope="session")
def compare(inside: Inside, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """The scores of RecBole itself, run after run, for users (those with rows, from the first) and all items."""

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
    """The scores of RecBole itself for the runs of QUICK, all in one process: it takes seconds to start."""
    scores = dict(zip(QUICK, compare(train, list(QUICK.values()), train.n_users), strict=True))
    return lambda name: scores[name]
