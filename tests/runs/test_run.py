"""A finished run, read from its folder: what it says is what the files say."""

import json
import shutil
import tomllib

import numpy as np
import pandas as pd
import pytest

import repro
from repro.errors import JournalError, StudyError
from repro.explanations import diff
from repro.metric_study import study_metrics
from repro.runs.journal import Journal, events, read_journal

METRICS = ["ndcg@5", "hit@5", "catalogue-coverage@5", "rmse"]
ALGORITHMS = ["reference/popularity", {"use": "reference/item-knn", "label": "knn"}, "reference/item-mean"]


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    protocol = repro.Protocol.load("random-5fold", split__folds=2)
    study = repro.Study(data, protocol, ALGORITHMS, METRICS, seed=5, question="Which is best?")
    return study.run(tmp_path_factory.mktemp("runs") / "run").folder


@pytest.fixture(scope="module")
def run(folder):
    return repro.Run(folder)


@pytest.fixture
def copy(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    return tmp_path / "copy"


def test_it_says_what_the_files_say(run, folder):
    assert run.study == tomllib.loads((folder / "study.toml").read_text())
    assert run.protocol.hash == run.started.protocol_hash
    assert [line.model_dump(mode="json")["hash"] for line in run.journal.lines] == [
        json.loads(line)["hash"] for line in (folder / "journal.jsonl").read_text().splitlines()
    ]
    pd.testing.assert_frame_equal(run.results, pd.read_parquet(folder / "results.parquet"))
    assert list(run.algorithms) == ["reference popularity", "knn", "reference item-mean"]
    assert run.algorithms["knn"] == "reference/item-knn"
    assert run.better == {"ndcg@5": "higher", "hit@5": "higher", "catalogue-coverage@5": "higher", "rmse": "lower"}
    assert run.environments.keys() == {"reference"}
    assert "\n".join(run.environments["reference"]) + "\n" == (folder / "environments" / "reference.txt").read_text()
    assert run.tuning().empty


def test_the_table_has_the_results_of_all_folds(run):
    frame = pd.read_parquet(run.folder / "results.parquet").query("fold == 'all'")
    table = run.table()
    for row in frame.itertuples():
        assert table.loc[row.algorithm, row.metric] == row.value or np.isnan(row.value)
    assert table.shape == (3, 4)


def test_tables_that_callers_change_stay_as_they_are(run):
    frame = run.results
    frame["value"] = 0.0
    assert run.results["value"].abs().sum() > 0


def test_its_text_fits_a_screen(run, data, tmp_path):
    lines = repr(run).splitlines()
    assert lines[-1] == str(run.folder)
    assert all(label in repr(run) for label in run.algorithms)
    many = [{"use": "reference/popularity", "label": f"copy {number} of it"} for number in range(30)]
    protocol = repro.Protocol.load("random-5fold", split__folds=2)
    metrics = [f"{name}@{k}" for name in ("ndcg", "precision", "recall") for k in (1, 2, 3, 4)]
    large = repro.study.run_study(repro.Study(data, protocol, many, metrics), tmp_path / "large")
    lines = repr(large).splitlines()
    assert len(lines) <= 24 + 2 and max(map(len, lines[:-1])) <= 120


def test_lists_are_those_that_the_cells_stored(run):
    frame = run.lists.frame("knn")
    assert set(frame["fold"]) == {"1", "2"}
    for fold, part in frame.groupby("fold"):
        digest = run.cells["knn"][fold].artifacts["lists"]
        stored = pd.read_parquet(run.folder / "artifacts" / f"{digest}.parquet")
        pd.testing.assert_frame_equal(part.drop(columns="fold").reset_index(drop=True), stored)
    assert "3 algorithms on 2 folds" in repr(run.lists)
    with pytest.raises(StudyError, match="no lists of 'kn'; did you mean 'knn'"):
        run.lists.frame("kn")


def test_test_parts_are_the_rows_that_were_held_out(run):
    for fold in run.folds:
        assert run.lists.tests[fold.fold].digest == fold.test_digest


def test_a_run_without_lists_says_so(data, tmp_path):
    protocol = repro.Protocol.load("random-5fold", split__folds=2)
    run = repro.Study(data, protocol, ["reference/item-mean"], ["rmse"]).run(tmp_path / "run")
    assert not run.lists.available and "no lists" in repr(run.lists)
    with pytest.raises(StudyError, match="has no lists: its metrics compare predictions"):
        run.lists.frame("reference item-mean")


READERS = {
    "protocol": lambda folder: repro.Run(folder).protocol,
    "per_user": lambda folder: repro.Run(folder).per_user(),
    "compare": lambda folder: repro.Run(folder).compare(),
    "report": lambda folder: repro.report(folder),
    "diff": lambda folder: diff(folder, folder),
    "metric study": study_metrics,
    "csv": lambda folder: repro.export(folder, "csv", folder.parent / "csv"),
    "crate": lambda folder: repro.export(folder, "ro-crate", folder.parent / "crate"),
    "prov": lambda folder: repro.export(folder, "prov", folder.parent / "prov.json"),
}


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_refuses_a_protocol_that_the_journal_does_not_have(reader, copy):
    text = (copy / "protocol.toml").read_text()
    (copy / "protocol.toml").write_text(text.replace('break = "item-asc"', 'break = "item-desc"'))
    sentence = (
        r"protocol\.toml is not the protocol of this run: ties\.break was 'item-asc' when the run was made, and is"
    )
    with pytest.raises(JournalError, match=sentence):
        READERS[reader](copy)


def test_verification_names_every_changed_decision_in_the_same_words(copy):
    text = (copy / "protocol.toml").read_text()
    changed = text.replace('break = "item-asc"', 'break = "item-desc"').replace("folds = 2", "folds = 3")
    (copy / "protocol.toml").write_text(changed)
    messages = [str(failure) for failure in repro.verify(copy, "rescore").failures]
    assert any("ties.break was 'item-asc' when the run was made, and is 'item-desc' now" in text for text in messages)
    assert any("split.folds was 2 when the run was made, and is 3 now" in text for text in messages)


def test_a_cell_that_failed_when_it_was_run_again_has_no_values(copy):
    contents = read_journal(copy / "journal.jsonl")
    journal = Journal(copy / "journal.jsonl", contents)
    journal.write(events.CellFailed(cell="knn/1", error="out of memory"))
    journal.close()
    run = repro.Run(copy)
    assert "knn" not in run.cells and set(run.per_user("ndcg@5")["algorithm"]) == {
        "reference popularity",
        "reference item-mean",
    }
    assert run.failed == {"knn/1": "out of memory"}


def test_a_cell_that_finished_twice_has_its_values_once(copy):
    contents = read_journal(copy / "journal.jsonl")
    journal = Journal(copy / "journal.jsonl", contents)
    journal.write(contents.events("cell.finished")[0])
    journal.close()
    pd.testing.assert_frame_equal(repro.Run(copy).per_list(), repro.Run(copy.parent / "copy").per_list())
    assert not repro.Run(copy).per_list().duplicated(["algorithm", "fold", "user", "metric"]).any()


def test_a_missing_table_is_named_with_what_to_do(copy):
    run = repro.Run(copy)
    cell = run.cells["knn"]["1"]
    (copy / "artifacts" / f"{cell.artifacts['lists']}.parquet").unlink()
    with pytest.raises(JournalError, match=r"the lists of knn \(1\) are no longer in .*--resume"):
        run.lists.frame("knn")


def test_what_is_not_a_finished_run_is_refused(tmp_path, copy):
    with pytest.raises(StudyError, match="is not a run folder"):
        repro.Run(tmp_path / "nowhere")
    (copy / "results.parquet").unlink()
    with pytest.raises(StudyError, match="is not finished"):
        repro.Run(copy)


def test_the_same_folder_read_twice_is_the_same_run(run, folder, copy):
    assert repro.Run(folder) == run and hash(repro.Run(folder)) == hash(run)
    assert repro.Run(copy) != run
