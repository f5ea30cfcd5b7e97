"""Small runs of a study whose data is a file, so that it can be had again: everything real, only small."""

import hashlib
import json
import shutil

import pytest

from repro import Study
from repro.data import synthetic_interactions
from repro.protocol import Protocol
from repro.runs.journal import read_journal
from repro.runs.journal.journal import FIRST, canonical_json, line_hash
from repro.runs.written_files import keep_files

METRICS = ["ndcg@5", "hit@3", "ap", "catalogue-coverage@5", "f1[average=means]@5", "rmse"]
ALGORITHMS = ["reference/popularity", "reference/bias", "reference/item-knn"]


def make(folder, algorithms=ALGORITHMS, metrics=METRICS, keep_scores=False, **changes):
    """A run in ``folder``/run, with its data beside it."""
    frame = synthetic_interactions(users=40, items=30, ratings=600, alpha=1.0, seed=5).to_frame()
    frame.assign(user="u" + frame["user"].astype(str)).to_csv(folder / "ratings.csv", index=False)
    protocol = Protocol.load("random-5fold", split__folds=2, **changes)
    study = Study("ratings.csv", protocol, algorithms, metrics, seed=3, question="Which?", folder=folder)
    return study.run(folder / "run", keep_scores=keep_scores).folder


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("made"))
    last = read_journal(folder / "journal.jsonl").end.hash
    keep_files(folder, {"report.html": f"<title>Which?</title><p>{last}</p>".encode()})
    return folder.parent


@pytest.fixture(scope="session")
def made_with_scores(tmp_path_factory):
    return make(tmp_path_factory.mktemp("scores"), keep_scores=True).parent


@pytest.fixture
def run(made, tmp_path):
    """A run that may be spoilt."""
    return shutil.copytree(made, tmp_path / "made") / "run"


@pytest.fixture
def kept(made_with_scores, tmp_path):
    """A run with its scores that may be spoilt."""
    return shutil.copytree(made_with_scores, tmp_path / "scores") / "run"


class Forger:
    """Changes files of a run, tells the journal so, and hashes its chain anew."""

    def __init__(self, folder):
        self.folder = folder
        self.lines = [json.loads(line) for line in (folder / "journal.jsonl").read_bytes().splitlines()]

    def events(self, kind):
        return [line["event"] for line in self.lines if line["event"]["event"] == kind]

    def replace_file(self, name, content):
        """Other content, and its digest wherever the journal has it."""
        (self.folder / name).write_bytes(content)
        for event in (*self.events("results.written"), *self.events("report.written")):
            if name in event["files"]:
                event["files"][name] = hashlib.sha256(content).hexdigest()

    def replace_artifact(self, digest, content):
        """Other content in the place of an artefact, under its new name."""
        new = hashlib.sha256(content).hexdigest()
        (self.folder / "artifacts" / f"{digest}.parquet").unlink()
        (self.folder / "artifacts" / f"{new}.parquet").write_bytes(content)
        for line in self.lines:
            artifacts = line["event"].get("artifacts", {})
            artifacts |= {name: new for name, known in artifacts.items() if known == digest}

    def finish(self):
        """Write the lines as a journal that is whole."""
        previous = FIRST
        for number, line in enumerate(self.lines, 1):
            line |= {"number": number, "previous": previous}
            previous = line["hash"] = line_hash(line)
        (self.folder / "journal.jsonl").write_bytes(b"".join(canonical_json(line) + b"\n" for line in self.lines))


@pytest.fixture
def forge():
    return Forger


@pytest.fixture
def make_run():
    return make
