"""A small study that can be held in the middle of a cell, run by the real command in processes of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from repro.current import reset
from repro.plugin import Environment
from repro.plugin.isolation import environment
from repro.runs.journal import Contents, read_journal
from repro.study import RunOptions, Study, run_study
from repro.testing import study_toml

PLUGIN = '''
"""Scores by the number of an item; where HELD names a folder, a fit says who it is there, and never ends."""

import os
import time
from pathlib import Path

import numpy as np

from repro.plugin import Algorithm, Environment, Framework, Scores, impl


class Held:
    def fit(self, train, *, seed):
        if held := os.environ.get("HELD"):
            (Path(held) / str(os.getpid())).touch()
            time.sleep(600)

    def score(self, queries, items):
        users = queries.users
        return Scores(np.add.outer(users % 5, items % 7).astype(float))


@impl
def repro_framework():
    return Framework("held", "1.0", "", (Algorithm("held", "", Held),), {}, Environment(("wave",), ()))
'''

STUDY = study_toml(
    "reference/popularity",
    "held/held",
    metrics=["ndcg@10", "recall@20"],
    data={"name": "synthetic", "users": 120, "items": 90, "ratings": 2500, "alpha": 1.0, "seed": 1},
    seed=5,
)
CELLS = 4

# The real command, but for the report after the run, which takes longer than all of it.
REPRO = """
import sys, types
sys.modules["repro.reports"] = types.SimpleNamespace(write_report=lambda results: results.folder / "report.html")
from repro.cli import main
main()
"""


def until(true: Callable[[], object]) -> None:
    """Wait for something that other processes do; what they have not done in minutes they never will."""
    end = time.monotonic() + 180
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def is_gone(pid: int) -> bool:
    """Whether a process has ended, even if nobody has asked yet how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def outcome(folder: Path) -> tuple[Any, ...]:
    """All that must not depend on what happened on the way."""
    journal = read_journal(folder / "journal.jsonl")
    cells = {event.cell: (event.artifacts, event.values) for event in journal.events("cell.finished")}
    files = dict(journal.events("results.written")[-1].files)
    for name in ("held", "reference"):
        files.pop(f"environments/{name}.txt")  # where it ran, which is no result
    assert len(cells) == CELLS
    return cells, files, (folder / "results.parquet").read_bytes()


def one_sentence(stderr: str) -> str:
    """The output that the user saw, which must be one line and no traceback."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    assert len(lines) == 1, stderr
    return lines[0]


@dataclass
class Faulty:
    """The study, and how to run it: ``variables`` are of the environment of its processes."""

    study: Path
    variables: dict[str, str] = field(default_factory=dict)

    # What tests need beside, by the one name that reaches them.
    until = staticmethod(until)
    is_gone = staticmethod(is_gone)
    one_sentence = staticmethod(one_sentence)

    def command(self, folder: Path, *options: str) -> list[str]:
        own = [] if "--workers" in options else ["--workers", "1"]
        run = [sys.executable, "-c", REPRO, "run", str(self.study), "--into", str(folder), "--quiet"]
        return [*run, *own, *options]

    def start(self, folder: Path, *options: str, **variables: str) -> subprocess.Popen[str]:
        """Start a run in a session of its own, as a terminal does."""
        return subprocess.Popen(
            self.command(folder, *options),
            env={**os.environ, **self.variables, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, folder: Path, *options: str, **how: Any) -> subprocess.CompletedProcess[str]:
        given = {"env": {**os.environ, **self.variables}, **how}
        return subprocess.run(self.command(folder, *options), capture_output=True, text=True, **given)

    def hold(self, folder: Path, held: Path, *options: str, **variables: str) -> tuple[subprocess.Popen[str], int]:
        """A run that is in the middle of a cell, and the process that fits it."""
        held.mkdir()
        process = self.start(folder, *options, HELD=str(held), **variables)
        until(lambda: any(held.iterdir()) or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        return process, int(next(held.iterdir()).name)


@pytest.fixture(scope="session")
def faulty(tmp_path_factory: pytest.TempPathFactory, install_plugin: Callable[[Path, str, str], Path]) -> Faulty:
    folder = tmp_path_factory.mktemp("faults")
    install_plugin(folder, "held", PLUGIN)
    (folder / "study.toml").write_text(STUDY)
    own = folder / "environments" / environment.folder_of("held", Environment(("wave",), ())).name
    (own / "bin").mkdir(parents=True)
    (own / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (own / "bin" / "python").chmod(0o755)
    (own / environment.COMPLETE).write_text(json.dumps({"freeze": []}))
    variables = {
        "PYTHONPATH": str(folder),
        "REPRO_PLUGINS": "reference,held",
        "REPRO_ENVIRONMENTS": str(folder / "environments"),
    }
    return Faulty(folder / "study.toml", variables)


@pytest.fixture
def loaded(faulty: Faulty, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The plug-in of the study in this process too: to go on with a run here takes a fraction of the time."""
    for name, value in faulty.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(faulty.study.parent))
    reset()
    yield
    reset()


UNDISTURBED: list[tuple[Any, ...]] = []


@pytest.fixture
def undisturbed(faulty: Faulty, loaded: None) -> tuple[Any, ...]:
    """The result of a run that nobody disturbed."""
    if not UNDISTURBED:
        UNDISTURBED.append(outcome(run_study(Study.load(faulty.study), faulty.study.parent / "undisturbed").folder))
    return UNDISTURBED[0]


@pytest.fixture
def resumes(faulty: Faulty, undisturbed: tuple[Any, ...]) -> Callable[[Path], Contents]:
    """Goes on with a run, and holds what comes of it against a run that nobody disturbed."""

    def resume(folder: Path) -> Contents:
        run_study(Study.load(faulty.study), folder, RunOptions(resume=True))
        assert outcome(folder) == undisturbed
        return read_journal(folder / "journal.jsonl")

    return resume
