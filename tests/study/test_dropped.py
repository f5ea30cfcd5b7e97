"""Runs that drop algorithms, run only some, or stop cells that take too long."""

import json
import time

import pandas as pd
import pytest

import repro
from repro import Protocol, Study
from repro.errors import StudyError
from repro.runs.run import Run

ALGORITHMS = ["reference/popularity", "reference/item-mean", "reference/random"]


@pytest.fixture
def study(data):
    return Study(data, Protocol.load("random-5fold", split__folds=2), ALGORITHMS, ["ndcg@10"], seed=4)


@pytest.fixture(scope="module")
def complete(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("complete") / "run"
    study = Study(data, Protocol.load("random-5fold", split__folds=2), ALGORITHMS, ["ndcg@10"], seed=4)
    return study.run(folder, report=False).table()


def test_only_some_run_and_the_others_follow_later(study, data, complete, tmp_path):
    run = study.run(tmp_path / "run", only=["reference popularity"])
    pd.testing.assert_frame_equal(run.table(), complete.loc[["reference popularity"]], check_exact=True)
    assert run.left_out["reference random"] == "reference random was dropped: only reference popularity ran"
    assert repro.verify(run.folder, "rescore", data=data).holds
    checked = repro.verify(run.folder, "retrain", data=data)
    assert checked.holds, checked.failures
    assert study.run(tmp_path / "run", only=["reference popularity"], resume=True).end.hash == run.end.hash
    whole = study.run(tmp_path / "run", resume=True)
    pd.testing.assert_frame_equal(whole.table(), complete, check_exact=True)
    assert whole.left_out == {}
    assert repro.verify(run.folder, "rescore", data=data).holds


def test_a_dropped_algorithm_is_left_out_of_results_and_reports_although_it_finished(study, data, complete, tmp_path):
    study.run(tmp_path / "run")
    run = study.run(tmp_path / "run", resume=True, drop=["reference item-mean"], report=True)
    kept = ["reference popularity", "reference random"]
    pd.testing.assert_frame_equal(run.table(), complete.loc[kept], check_exact=True)
    assert list(run.algorithms) == list(run.cells) == kept
    assert set(run.per_user("ndcg@10")["algorithm"]) == set(kept)
    sentence = "reference item-mean was dropped: the run was continued without it"
    assert sentence in (run.folder / "report.html").read_text()
    assert repro.verify(run.folder, "rescore", data=data).holds
    repro.export(run.folder, "methods", tmp_path / "methods")
    assert sentence in next((tmp_path / "methods").rglob("methods.md")).read_text()
    replayed = repro.replay(run.folder, tmp_path / "again", data=data, here=True)
    assert list(Run(tmp_path / "again").algorithms) == kept
    assert replayed.reproduced


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"drop": ["popularity"]}, "there is no algorithm 'popularity'; did you mean 'reference popularity'?"),
        ({"only": ["nothing at all"]}, "there is no algorithm 'nothing at all'"),
        ({"drop": [f"reference {name}" for name in ("popularity", "item-mean", "random")]}, "leave at least one"),
        ({"drop": "reference random"}, "are lists of labels"),
        ({"cell_seconds": 0}, "must be a number above 0"),
        ({"cell_seconds": 1, "executor": "ray"}, "Ray does not stop cells"),
    ],
)
def test_what_is_refused(study, options, sentence, tmp_path):
    with pytest.raises(StudyError) as caught:
        study.run(tmp_path / "run", **options)
    assert sentence in str(caught.value)
    assert not (tmp_path / "run").exists()


class Endless:
    """It never ends on its own."""

    def fit(self, train):
        while True:
            time.sleep(0.01)

    def score(self, users, items): ...


def test_a_cell_that_never_ends_fails_with_its_reason_and_the_others_run(data, complete, tmp_path):
    algorithms = [("endless", Endless()), "reference/popularity"]
    study = Study(data, Protocol.load("random-5fold", split__folds=2), algorithms, ["ndcg@10"], seed=4)
    with pytest.raises(StudyError, match=r"2 of 4 cells failed(.|\n)*longer than the time limit of 4 s") as caught:
        study.run(tmp_path / "run", cell_seconds=4)
    assert "--resume" in str(caught.value)
    run = Run(tmp_path / "run")
    assert set(run.failed) == {"endless/1", "endless/2"}
    pd.testing.assert_frame_equal(run.table(), complete.loc[["reference popularity"]], check_exact=True)
    finished = study.run(tmp_path / "run", resume=True, drop=["endless"])
    assert not finished.failed
    assert finished.left_out["endless"].startswith("endless was dropped")
    assert repro.verify(finished.folder, "rescore", data=data).holds


def test_limited_cells_have_the_same_values(study, complete, tmp_path):
    run = study.run(tmp_path / "run", cell_seconds=300, workers=2)
    pd.testing.assert_frame_equal(run.table(), complete, check_exact=True)


def test_a_data_set_loaded_by_name_stays_named(tmp_path):
    options = {"users": 60, "items": 40, "ratings": 800}
    loaded = repro.load_dataset("synthetic", **options)
    study = Study(loaded, Protocol.load("random-5fold", split__folds=2), "reference/popularity", "ndcg@10")
    by_name = Study("synthetic", study.protocol, "reference/popularity", "ndcg@10", data_options=options)
    assert study.digest == by_name.digest
    assert study.to_toml() == by_name.to_toml()
    run = study.run(tmp_path / "run", report=True)
    assert run.loaded.data == "synthetic"
    assert (run.folder / "report.html").is_file()
    repro.export(run.folder, "methods", tmp_path / "methods")
    assert "We used synthetic data" in next((tmp_path / "methods").rglob("methods.md")).read_text()
    assert repro.replay(run.folder, tmp_path / "again", here=True).reproduced
    part = loaded.select(loaded.ratings > 1)
    assert Study(part, study.protocol, "reference/popularity", "ndcg@10").data_name == "given in code"


def test_data_given_in_code_is_asked_for(study, tmp_path):
    run = study.run(tmp_path / "run")
    with pytest.raises(StudyError, match="was given in code; give it again, with data= or --data"):
        repro.replay(run.folder, tmp_path / "again", here=True)


def test_replay_needs_nothing_of_algorithms_that_are_not_asked_for(study, data, tmp_path):
    run = study.run(tmp_path / "run")
    text = (run.folder / "study.toml").read_text().replace("reference/random", "elsewhere/random")
    other = tmp_path / "other.toml"
    other.write_text(text)
    from repro.study.model import read_study, read_toml
    from repro.study.reload import document_of

    _, document = read_toml(other, "study")
    (tmp_path / "protocol.toml").write_text((run.folder / "protocol.toml").read_text())
    with pytest.raises(repro.ReproError, match="there is no framework 'elsewhere'"):
        read_study(document, text, other)
    kept = read_study(document_of(document, ["reference popularity"]), text, other)
    assert [entry.label for entry in kept.entries] == ["reference popularity"]
    replayed = repro.replay(run.folder, tmp_path / "again", data=data, here=True, algorithms=["reference popularity"])
    assert [framework.framework for framework in replayed.frameworks] == ["reference"]
    assert json.loads((tmp_path / "again" / "replay.json").read_text())["reproduced"]
