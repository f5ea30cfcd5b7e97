"""Cornac's environment, built if it is not there; small data, and MovieLens 100K, with unknown users and items."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import CheckedRecommender
from repro.testing import IsolatedFramework, isolated_fixture, movielens_part

SCRIPT = Path(__file__).with_name("against_cornac.py")
Make = Callable[..., CheckedRecommender]


framework = isolated_fixture("cornac")


@pytest.fixture(scope="session")
def make(framework: IsolatedFramework) -> Make:
    """A recommender of Cornac in its environment, by name and some of its parameters."""
    return lambda name, **parameters: framework.make(name, parameters)


@pytest.fixture(scope="session")
def inside(framework: IsolatedFramework) -> Callable[[dict[str, Any]], Any]:
    """Asks ``against_cornac.py``, which runs in Cornac's environment with the same packages that a worker sees."""

    def ask(question: dict[str, Any]) -> Any:
        return json.loads(framework.run(SCRIPT, stdin=json.dumps(question)).splitlines()[-1])

    return ask


@pytest.fixture(scope="session")
def small() -> Interactions:
    """60 users by 40 items, a third rated with 1 to 5; the last two of each have no rows; items 30 to 37 are rare."""
    rng = np.random.default_rng(20)
    rated = rng.random((60, 40)) < np.where(np.arange(40) < 30, 0.33, 0.03)
    rated[58:] = False
    rated[:, 38:] = False
    users, items = np.nonzero(rated)
    order = rng.permutation(len(users))
    return Interactions(
        users[order].astype(np.int32),
        items[order].astype(np.int32),
        rng.integers(1, 6, len(users)).astype(np.float64),
        None,
        np.arange(60),
        np.arange(40),
    )


@pytest.fixture(scope="session")
def movielens() -> Interactions:
    """MovieLens 100K without the rows of some users and items, which are unknown then."""
    return movielens_part(every_user=100, every_item=50)


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Interactions], str]:
    """Rows as a file for ``against_cornac.py``."""
    folder = tmp_path_factory.mktemp("rows")

    def save(rows: Interactions) -> str:
        path = folder / f"{rows.digest}.npz"
        if not path.exists():
            np.savez(
                path,
                users=rows.users,
                items=rows.items,
                ratings=rows.ratings,
                n_users=rows.n_users,
                n_items=rows.n_items,
            )
        return str(path)

    return save
