"""kill -9 at random moments, then --resume: the same results and artefacts as a run that nobody disturbed."""

import random
import signal
import subprocess
import sys
import time

import pytest

from repro.runs.journal import read_journal
from repro.testing import study_toml

STUDY = study_toml(
    "reference/popularity",
    "reference/item-knn",
    "reference/plsa",
    metrics=["ndcg@10", "recall@20", "rmse"],
    data={"name": "synthetic", "users": 300, "items": 200, "ratings": 9000, "alpha": 1.0, "seed": 1},
    folds=3,
    seed=5,
)


def command(study, folder, *options):
    return [sys.executable, "-m", "repro", "run", str(study), "--into", str(folder), "--workers", "1", *options]


def outcome(folder):
    """All that must not depend on what happened on the way."""
    journal = read_journal(folder / "journal.jsonl")
    cells = {event.cell: (event.artifacts, event.values) for event in journal.events("cell.finished")}
    return cells, journal.events("results.written")[-1].files, (folder / "results.parquet").read_bytes()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("kill") / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def undisturbed(study):
    folder = study.parent / "undisturbed"
    subprocess.run(command(study, folder, "--quiet"), check=True, capture_output=True)
    return folder


def size(folder):
    journal = folder / "journal.jsonl"
    return journal.stat().st_size if journal.exists() else -1


@pytest.mark.parametrize("moment", [0, 3, 6, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 4, 5, 7, 8, 9))])
def test_killed_and_resumed(study, undisturbed, tmp_path, moment):
    folder = tmp_path / "run"
    # A moment is a length of the journal, not a time: it comes at the same step however slow the machine is.
    target = random.Random(moment).randrange(-1, size(undisturbed))
    process = subprocess.Popen(command(study, folder, "--quiet"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while size(folder) < target and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    if size(folder) >= 0:
        read_journal(folder / "journal.jsonl")  # valid up to its last event
    resumed = subprocess.run(command(study, folder, "--quiet", "--resume"), capture_output=True, text=True)
    assert resumed.returncode == 0, resumed.stderr
    assert outcome(folder) == outcome(undisturbed)


def test_killed_before_the_first_event(study, undisturbed, tmp_path):
    folder = tmp_path / "run"
    (folder / "artifacts").mkdir(parents=True)
    (folder / ".lock").touch()
    subprocess.run(command(study, folder, "--quiet", "--resume"), check=True, capture_output=True)
    assert outcome(folder) == outcome(undisturbed)
