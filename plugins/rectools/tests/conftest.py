"""The environment of RecTools, and a small table of ratings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.testing import isolated_fixture, ratings_table

framework = isolated_fixture("rectools")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need the environment are slow: building it takes minutes."""
    for item in items:
        if Path(__file__).parent in item.path.parents and "framework" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def train() -> Interactions:
    """40 users by 30 items, a third rated with 1 to 5 on days 0 to 29; users 39, 40 and items 29, 30 have no rows."""
    rng = np.random.default_rng(20)
    ratings = rng.integers(1, 6, (40, 30)) * (rng.random((40, 30)) < 0.33)
    ratings[38:] = 0
    ratings[:, 28:] = 0
    return ratings_table(ratings, 86_400 * np.indices(ratings.shape)[1])
