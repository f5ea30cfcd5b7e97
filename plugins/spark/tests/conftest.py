"""Spark's environment, built if it is missing; and MovieLens 100K."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from repro.data.interactions import Interactions
from repro.testing import IsolatedFramework, isolated_fixture

framework = isolated_fixture("spark")


@pytest.fixture(scope="session")
def train(four_fifths: Interactions) -> Interactions:
    return four_fifths


@pytest.fixture(scope="session")
def inside(framework: IsolatedFramework) -> Callable[..., str]:
    """Runs a script of this folder in Spark's environment."""
    return lambda script, *arguments: framework.run(Path(__file__).parent / script, *arguments)
