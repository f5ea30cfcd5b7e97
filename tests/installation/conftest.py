"""The core without what is not part of it: optional packages, and modules of other operating systems."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

STUDY = """
metrics = ["ndcg@5", "precision@5", "hit@5", "rmse", "novelty@5", "catalogue-coverage@5"]
[data]
name = "synthetic"
users = 30
items = 20
ratings = 300
[protocol]
base = "random-5fold"
"split.folds" = 2
[[algorithms]]
use = "example/decayed-popularity"
[[algorithms]]
use = "example/decayed-popularity"
label = "short memory"
parameters = { half_life = 0.5 }
"""
EVALUATE = """
import pandas as pd
import repro

recommendations = pd.DataFrame({"user": [1, 1, 2, 2], "item": [10, 11, 10, 12], "score": [0.9, 0.8, 0.3, 0.4]})
truth = pd.DataFrame({"user": [1, 2], "item": [11, 12]})
print(repro.evaluate(recommendations, truth, metrics=["precision@1"])["value"].iloc[0])
"""

Outcomes = list[tuple[int | str, str]]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study of the tutorial's plug-in, which needs NumPy alone."""
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture
def evaluate_code() -> str:
    """Prints the precision of two lists."""
    return EVALUATE


@pytest.fixture
def without(tmp_path: Path) -> Callable[[Sequence[str], Sequence[Sequence[str]]], Outcomes]:
    """Runs commands in one process where modules are hidden; only the tutorial's plug-in is installed there."""
    about = tmp_path / "site" / "recsys_repro_example-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: recsys-repro-example\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text("[repro]\nexample-only = repro_example.recommender\n")
    path = os.pathsep.join(str(folder) for folder in (about.parent, ROOT, ROOT / "plugins" / "example"))

    def call(absent: Sequence[str], commands: Sequence[Sequence[str]]) -> Outcomes:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("hiding.py")), json.dumps(absent), json.dumps(commands)],
            env={**os.environ, "PYTHONPATH": path, "REPRO_PLUGINS": "example-only", "COLUMNS": "300"},
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        return [(status, printed) for status, printed in json.loads(done.stdout.splitlines()[-1])]

    return call
