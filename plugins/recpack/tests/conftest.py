"""RecPack's environment, built if it is not there; MovieLens 100K; and RecPack itself beside the plug-in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repro.data.interactions import Interactions
from repro.testing import IsolatedFramework, isolated_fixture

Inside = Callable[..., str]


framework = isolated_fixture("recpack")


@pytest.fixture(scope="session")
def train(four_fifths: Interactions) -> Interactions:
    return four_fifths


@pytest.fixture(scope="session")
def inside(framework: IsolatedFramework) -> Inside:
    """Runs one of the scripts beside this file in RecPack's environment, as a worker would be run; what it prints."""
    return lambda script, *arguments: framework.run(Path(__file__).parent / script, *arguments)


@pytest.fixture(scope="session")
def constructors(inside: Inside) -> dict[str, dict[str, Any]]:
    """The parameters of RecPack's classes, with their defaults."""
    defaults: dict[str, dict[str, Any]] = json.loads(inside("constructors.py"))
    return defaults
