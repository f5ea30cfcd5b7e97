"""Spark's environment, built if it is not there; and MovieLens 100K."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from repro.data.interactions import Interactions
from repro.plugin import CheckedRecommender
from repro.testing import IsolatedFramework, isolated_framework


@pytest.fixture(scope="session")
def framework() -> Iterator[IsolatedFramework]:
    """Spark in its environment, which is used even where Spark could run in this process."""
    with isolated_framework("spark") as framework:
        yield framework


@pytest.fixture(scope="session")
def train(four_fifths: Interactions) -> Interactions:
    return four_fifths


@pytest.fixture(scope="session")
def make(framework: IsolatedFramework) -> Callable[..., CheckedRecommender]:
    """Makes a recommender in Spark's environment."""
    return framework.make


@pytest.fixture(scope="session")
def fitted(framework: IsolatedFramework) -> Callable[..., CheckedRecommender]:
    """Fits a recommender in Spark's environment."""
    return framework.fitted


@pytest.fixture(scope="session")
def inside(framework: IsolatedFramework) -> Callable[..., str]:
    """Runs one of the scripts beside this file in Spark's environment."""
    return lambda script, *arguments: framework.run(Path(__file__).parent / script, *arguments)
