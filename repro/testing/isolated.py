"""A framework in its own environment, for tests: built if it is missing, and used by workers or scripts."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from repro.data.interactions import Interactions
from repro.plugin import CheckedRecommender, ParameterValue, plugins
from repro.plugin.host.placement import ISOLATED
from repro.plugin.isolation.client import SETTINGS
from repro.plugin.isolation.environment import build
from repro.testing import installed

SEED = 11


@dataclass(frozen=True)
class IsolatedFramework:
    """An installed framework that runs in its own environment, even where this process could run it.

    python    the interpreter of the environment
    packages  a folder with the packages of the core and of the plug-in, as a worker sees them
    """

    name: str
    python: Path
    packages: Path

    def make(self, algorithm: str, parameters: Mapping[str, ParameterValue] = {}) -> CheckedRecommender:
        """A new recommender in a worker; parameters that are not stated have their defaults."""
        return installed.make(f"{self.name}/{algorithm}", parameters)

    def fitted(
        self, algorithm: str, parameters: Mapping[str, ParameterValue], train: Interactions, seed: int = SEED
    ) -> CheckedRecommender:
        """A fitted recommender in a worker."""
        return installed.fitted(f"{self.name}/{algorithm}", parameters, train, seed)

    def run(self, script: Path, *arguments: str, stdin: str = "", folder: Path | None = None) -> str:
        """Run a script in the environment, with the settings and packages of a worker; returns what it prints."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run(
            [self.python, script, *arguments],
            input=stdin,
            cwd=folder,
            env=environment | SETTINGS | {"PYTHONPATH": str(self.packages)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextlib.contextmanager
def isolated_framework(name: str) -> Iterator[IsolatedFramework]:
    """An installed framework in its own environment, which is built if it is missing (this can take minutes)."""
    requirements = plugins().framework(name).environment
    assert requirements is not None, f"{name} has no environment of its own"
    python = build(name, requirements, print)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv(ISOLATED, name)
        assert plugins().location(name) == "isolated"
        for package in plugins().launch(name).packages:
            (Path(folder) / package.name).symlink_to(package)
        yield IsolatedFramework(name, python, Path(folder))


def isolated_fixture(name: str) -> Any:
    """A fixture for the whole session: the framework in its own environment."""

    @pytest.fixture(scope="session", name="framework")
    def framework() -> Iterator[IsolatedFramework]:
        with isolated_framework(name) as framework:
            yield framework

    return framework
