"""Plug-ins that are not installed where the tests run: the example, and small ones written on the spot."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from repro.plugin.isolation.client import Launch

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which plugins/example is installed: what is on the path of a program sees its entry points."""
    site = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--target", str(site)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(ROOT / "plugins" / "example")], check=True)
    return site


@pytest.fixture(scope="session")
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs ``python ARGUMENTS`` with folders on its path and variables in its environment."""

    def call(*arguments: str, path: Path, status: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": str(path), "COLUMNS": "200", **variables},
            capture_output=True,
            text=True,
        )
        assert done.returncode == status, done.stderr
        return done

    return call


@pytest.fixture
def write_plugin(tmp_path: Path, install_plugin: Callable[[Path, str, str], Path]) -> Callable[[str, str], Path]:
    """Installs a plug-in of one module into the folder of the test: give that folder as the path."""
    return partial(install_plugin, tmp_path)


MOODY = '''
"""A framework that behaves badly when it is told to."""

import ctypes
import json
import os
import signal
import sys
import time

import numpy as np

from repro.errors import DataError
from repro.plugin import Algorithm, Environment, Framework, Parameter, Scores, impl

MOODS = ("fine exit abort segfault kill hang raise known leave shout close states list spawn").split()


def behave(mood):
    if mood == "exit":
        print("going away", file=sys.stderr)
        os._exit(7)
    if mood == "abort":
        os.abort()
    if mood == "segfault":
        ctypes.string_at(0)
    if mood == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if mood == "hang":
        print("thinking", flush=True)
        time.sleep(1000)
    if mood == "raise":
        raise ValueError("no factors left")
    if mood == "known":
        raise DataError("there are no timestamps; take data that has them")
    if mood == "leave":
        sys.exit("enough")
    if mood == "close":
        os.closerange(0, 64)
        time.sleep(1000)
    if mood == "spawn":
        os.system("sleep 1000 & echo child $! >&2")
        os._exit(1)
    if mood == "shout":
        print("RPW, said the framework")
        os.write(1, b"RPW" + bytes(range(256)))
        for number in range(40_000):
            print(f"line {number}", "x" * 60, file=sys.stderr)
        sys.stderr.write("bar" * 100_000 + "\\r")
        print("the last line")


class Moody:
    def __init__(self, mood, when):
        self.mood, self.when = mood, when
        self.imported = "wave" in sys.modules
        self._at("make")

    def _at(self, when):
        if when == self.when:
            behave(self.mood)

    def on_fold(self, name):
        self.fold = name

    def fit(self, train, *, seed):
        self._at("fit")
        times = None if train.timestamps is None else train.timestamps.tolist()
        self.notes = {
            "fold": getattr(self, "fold", ""),
            "seed": str(seed),
            "imported": str(self.imported),
            "train": json.dumps(
                [
                    *(train.users.tolist(), train.items.tolist(), train.ratings.tolist(), times),
                    *(train.user_ids.tolist(), train.item_ids.tolist(), train.explicit),
                ]
            ),
        }

    def score(self, queries, items):
        users = queries.users
        self._at("score")
        if self.mood == "states" and self.when == "score":
            return Scores(np.zeros((len(users), len(items))), np.full((len(users), len(items)), 0.5))
        if self.mood == "list" and self.when == "score":
            return [3, 1, 2]
        return Scores(np.add.outer(users, items / 7))


@impl
def repro_framework():
    parameters = (Parameter("mood", "fine", "", tuple(MOODS)), Parameter("when", "fit", "", ("make", "fit", "score")))
    moody = Algorithm("moody", "behaves as told", Moody, parameters)
    return Framework("moody", "1.0", "", (moody,), {}, Environment(("wave",), ()))
'''


@pytest.fixture
def moody(write_plugin: Callable[[str, str], Path]) -> Launch:
    """The launch of a worker of a moody framework, by this very interpreter."""
    folder = write_plugin("moody", MOODY)
    return Launch("moody", "plugin_moody", Path(sys.executable), (ROOT / "repro", folder / "plugin_moody.py"))
