"""A run folder of others is data: no command opens a file elsewhere because a journal or a link in it says so."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from repro import Study
from repro.data import synthetic_interactions
from repro.errors import JournalError, ReproError
from repro.explanations import ScoredRun
from repro.exports.forms import BUILT_IN, export_forms
from repro.metric_study import study_metrics
from repro.protocol import Protocol
from repro.reports import write_report
from repro.runs.folder import RunFolder
from repro.runs.journal import read_journal
from repro.runs.journal.journal import FIRST, canonical_json, line_hash
from repro.runs.run import Run
from repro.verification import verify

DATA = synthetic_interactions(users=30, items=20, ratings=300, alpha=1.0, seed=4)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    protocol = Protocol.load("random-5fold", split__folds=2)
    study = Study(DATA, protocol, ["reference/popularity", "reference/bias"], ["ndcg@5", "rmse"], seed=3)
    return study.run(tmp_path_factory.mktemp("paths") / "run", keep_scores=True).folder


@pytest.fixture
def run(made, tmp_path):
    return shutil.copytree(made, tmp_path / "run")


def rename_artifacts(run, rename):
    """Name the artefacts of the journal otherwise, and hash its chain anew."""
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_bytes().splitlines()]
    previous = FIRST
    for line in lines:
        artifacts = line["event"].get("artifacts", {})
        artifacts |= {name: rename(digest) for name, digest in artifacts.items()}
        line["previous"] = previous
        previous = line["hash"] = line_hash(line)
    (run / "journal.jsonl").write_bytes(b"".join(canonical_json(line) + b"\n" for line in lines))


# Every reader of artefacts: each would open what the journal names.
READERS = {
    "report": lambda run: write_report(Run(run), run.parent / "report.html"),
    "per user": lambda run: Run(run).per_user(),
    "per list": lambda run: Run(run).per_list(),
    "compare": lambda run: Run(run).user_values(Run(run).measure("ndcg@5")),
    "study-metrics": lambda run: study_metrics(run),
    "explain": lambda run: ScoredRun.open(run, DATA).predictions("reference bias", "1"),
    **{
        f"export {form.name}": lambda run, form=form: export_forms(run, [form.name], run.parent / "out")
        for form in BUILT_IN
        if form.name in ("ro-crate", "trec", "ir-metadata", "csv")
    },
}


@pytest.mark.parametrize("where", ["../../outside", "/tmp/outside", "../" * 8 + "outside"])
def test_names_that_lead_out_of_the_folder_are_refused_when_the_journal_is_read(run, where):
    rename_artifacts(run, lambda digest: where)
    with pytest.raises(JournalError, match="is not a journal line"):
        read_journal(run / "journal.jsonl")
    assert not verify(run).holds
    for reader in READERS.values():
        with pytest.raises(ReproError):
            reader(run)


@pytest.mark.parametrize("reader", READERS)
def test_links_are_refused_by_every_reader(run, reader):
    """The files are the right ones, and elsewhere: only the link betrays it."""
    outside = run.parent / "outside"
    outside.mkdir()
    for path in (run / "artifacts").iterdir():
        shutil.move(path, outside / path.name)
        path.symlink_to(outside / path.name)
    with pytest.raises(JournalError, match="is a symbolic link"):
        READERS[reader](run)


def test_a_folder_of_artefacts_that_is_a_link_is_refused_too(run):
    shutil.move(run / "artifacts", run.parent / "outside")
    (run / "artifacts").symlink_to(run.parent / "outside")
    with pytest.raises(JournalError, match="is a symbolic link"):
        write_report(Run(run), run.parent / "report.html")
    assert not verify(run).holds


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "", "..", "a\0b"])
def test_no_name_leads_out_of_a_folder(tmp_path, name):
    folder = RunFolder(tmp_path)
    for use in (
        folder.place,
        lambda path_text: folder.write(path_text, b""),
        lambda path_text: folder.holds(path_text, "0" * 64),
    ):
        with pytest.raises(JournalError, match="leads out of that folder"):
            use(name)


def test_names_of_files_in_events_stay_below_the_folder(tmp_path):
    from repro.runs.journal import events

    for name in ("../x", "/x", "a/../x", "a//x", "./x", "a\\x", "", "a\nb"):
        with pytest.raises(ValueError, match="name of a file below"):
            events.ReportWritten(files={name: "0" * 64})
    with pytest.raises(ValueError, match="pattern"):
        events.ReportWritten(files={"x": "0" * 63})


def test_a_symbolic_link_to_a_table_is_refused(run):
    pq.write_table(pa.table({"algorithm": ["x"]}), run.parent / "other.parquet")
    (run / "results.parquet").unlink()
    (run / "results.parquet").symlink_to(run.parent / "other.parquet")
    with pytest.raises(JournalError, match="is a symbolic link"):
        Run(run).table()
