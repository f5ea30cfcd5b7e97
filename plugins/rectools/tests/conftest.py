"""The environment of RecTools, MovieLens 100K with some users and items left without rows, and a small table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import plugins
from repro.plugin.isolation.client import Launch
from repro.plugin.isolation.environment import build
from repro.testing import ratings_table
from repro_rectools.plugin import repro_framework


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs the environment is slow: building it takes minutes."""
    for item in items:
        if Path(__file__).parent in item.path.parents and "launch" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def launch() -> Launch:
    """How to start Python in the environment of RecTools, which is built if it is not there."""
    needs = repro_framework().environment
    assert needs is not None
    build("rectools", needs, lambda line: None)
    return plugins().launch("rectools")


@pytest.fixture(scope="session")
def train() -> Interactions:
    """40 users by 30 items, a third rated with 1 to 5 on days 0 to 29; users 39, 40 and items 29, 30 have no rows."""
    rng = np.random.default_rng(20)
    ratings = rng.integers(1, 6, (40, 30)) * (rng.random((40, 30)) < 0.33)
    ratings[38:] = 0
    ratings[:, 28:] = 0
    return ratings_table(ratings, 86_400 * np.indices(ratings.shape)[1])
