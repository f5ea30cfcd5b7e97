"""Tuning chooses on the validation part alone, before the test part is used, and is reproducible."""

import filecmp
import itertools
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from repro import Study
from repro.cli import cli
from repro.data import synthetic_interactions
from repro.errors import StudyError
from repro.protocol import Protocol
from repro.reports import write_report
from repro.runs.journal import read_journal
from repro.study import make_plan
from repro.study.fold_data import validation_data
from repro.study.tuning import loop

from .tuned import FILE, GRID, GRIDS, SPACE, SPACES, choices, journal_of, outcome, tuned_study

PARTS = {"train": "train", "test": "validation"}


@pytest.fixture(scope="module")
def study(data, protocol):
    spaces = {"item-knn": SPACE, "puresvd": {"factors": [2, 4, 8]}}
    uses = ["reference/item-knn", "reference/puresvd", "reference/ease", "reference/item-mean"]
    return tuned_study(data, protocol, spaces, uses, trials=12)


@pytest.fixture(scope="module")
def finished(study, tmp_path_factory):
    return study.run(tmp_path_factory.mktemp("tuned") / "run")


@pytest.mark.parametrize(("metric", "best"), [("ndcg@10", max), ("rmse", min)])
def test_the_choice_is_the_best_of_all_combinations_on_the_validation_part(data, protocol, tmp_path, metric, best):
    """A study of all combinations, with the training and validation rows as its training and test files."""
    study = tuned_study(data, protocol, GRIDS, metric=metric)
    plan = make_plan(study)
    results = study.run(tmp_path / "run")
    combinations = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    for fold in plan.split.folds:
        for name, rows in (("train", fold.train), ("validation", fold.validation)):
            plan.interactions.select(rows).to_frame().to_csv(tmp_path / f"{name}.csv", index=False)
        files = {f"split.{part}_file": str(tmp_path / f"{name}.csv") for part, name in PARTS.items()}
        brute = Study(
            data,
            Protocol.load("random-5fold").replace({"split.strategy": "files", **files}),
            [{"use": "reference/item-knn", "label": str(n), "parameters": p} for n, p in enumerate(combinations)],
            [metric],
            seed=7,
        )
        values = list(brute.run(tmp_path / f"brute-{fold.name}").table()[metric])
        assert len(set(values)) > 3
        event = choices(results.folder)[f"reference item-knn/{fold.name}"]
        assert [trial["value"] for trial in event["trials"]] == values
        assert event["chosen"] == combinations[values.index(best(values))]
        assert event["search"] == "grid"


def test_the_cell_is_measured_with_the_chosen_parameters(data, protocol, finished, tmp_path):
    for fold in ("1", "2"):
        chosen = choices(finished.folder)[f"reference puresvd/{fold}"]["chosen"]
        stated = {"use": "reference/puresvd", "parameters": chosen}
        alone = Study(data, protocol, [stated], ["ndcg@10", "rmse"], seed=7).run(tmp_path / fold).results
        both = [frame[frame["fold"] == fold] for frame in (alone, finished.results)]
        assert list(both[0]["value"].dropna()) == list(
            both[1].query("algorithm == 'reference puresvd'")["value"].dropna()
        )


def test_the_choice_is_journaled_before_the_cell_starts(finished, study):
    lines = [(line.event.event, getattr(line.event, "cell", "")) for line in journal_of(finished.folder).lines]
    tuned = [cell for kind, cell in lines if kind == "tuning.finished"]
    assert sorted(tuned) == [f"reference {name}/{fold}" for name in ("item-knn", "puresvd") for fold in ("1", "2")]
    for cell in tuned:
        assert lines.index(("tuning.finished", cell)) < lines.index(("cell.started", cell))
    for event in journal_of(finished.folder).events("cell.started"):
        assert event.tuned == (event.cell in tuned)
        if event.tuned:
            assert event.parameters.items() >= choices(finished.folder)[event.cell]["chosen"].items()


def test_ratings_of_the_test_part_change_nothing_about_the_choice(data, protocol, tmp_path):
    study = tuned_study(data, protocol.replace({"split.repeats": 1}), SPACES, metric="nrmse", trials=14)
    (fold,) = make_plan(study).split.folds
    ratings = data.ratings.copy()
    ratings[fold.test] = 9.0 - ratings[fold.test]  # the scale of the data set is another one, too
    other = tuned_study(replace(data, ratings=ratings), study.protocol, SPACES, metric="nrmse", trials=14)
    runs = [study.run(tmp_path / "first").folder, other.run(tmp_path / "second").folder]
    assert choices(runs[0]) == choices(runs[1])
    assert outcome(runs[0])[2] != outcome(runs[1])[2]


def test_rows_of_the_test_part_change_nothing_about_the_choice(data, protocol, tmp_path):
    """Another test file, with users and items that are nowhere else."""
    (fold, *_) = make_plan(tuned_study(data, protocol, SPACES)).split.folds
    parts = {"train": fold.train, "validation": fold.validation, "test": fold.test}
    runs = []
    for name in ("one", "other"):
        for part, rows in parts.items():
            frame = data.select(rows).to_frame()
            if (part, name) == ("test", "other"):
                frame = frame[::3].assign(item=lambda f: f["item"] % 7 + 900, rating=5.0)
                frame = frame.assign(user=frame["user"] + 1000).drop_duplicates(["user", "item"])
            frame.to_csv(tmp_path / f"{part}.csv", index=False)
        files = {f"split.{part}_file": str(tmp_path / f"{part}.csv") for part in parts}
        # All items are ranked, and items without training rows come first: the test rows would show.
        given = Protocol.load("random-5fold", missing__rank="first").replace({"split.strategy": "files", **files})
        runs.append(tuned_study(data, given, SPACES).run(tmp_path / name).folder)
    assert choices(runs[0]) == choices(runs[1])
    before = [
        [line.event for line in journal_of(run).lines if line.event.event == "decisions.resolved"] for run in runs
    ]
    assert before[0] == before[1]


def test_tuning_has_no_row_user_or_item_of_the_test_part(protocol):
    sparse = synthetic_interactions(users=60, items=150, ratings=400, alpha=1.4, seed=3)
    plan = make_plan(tuned_study(sparse, protocol.replace({"split.head": 0.05, "split.repeats": 1}), SPACES))
    (fold,) = plan.split.folds
    parts = validation_data(plan, fold)
    seen = np.union1d(fold.train, fold.validation)
    assert parts.validation is None
    assert parts.whole.digest == plan.interactions.select(seen).digest
    assert parts.train.digest == plan.interactions.select(fold.train).digest
    assert parts.test.digest == plan.interactions.select(fold.validation).digest
    assert parts.whole.n_users == len(np.unique(parts.whole.users))
    assert parts.whole.n_items == len(np.unique(parts.whole.items)) < plan.interactions.n_items
    kept = set(parts.whole.item_ids)
    removed = [item for item in plan.interactions.item_ids[plan.split.removed_items] if item in kept]
    assert list(parts.whole.item_ids[parts.removed_items]) == removed and removed


def test_the_same_study_gives_the_same_bytes_with_two_workers(study, finished, tmp_path):
    other = study.run(tmp_path / "run", workers=2)
    assert outcome(other.folder) == outcome(finished.folder)
    assert filecmp.cmp(other.folder / "results.csv", finished.folder / "results.csv", shallow=False)


def test_folds_are_tuned_on_a_share_of_their_training_rows(data, tmp_path):
    """Whatever the order of the rows and the number of workers; validation rows are never test rows."""
    changes = {"split__folds": 3, "split__validation_share": 0.2, "split__validation_of": "users"}
    protocol = Protocol.load("random-5fold", **changes)
    shuffled = data.select(np.random.default_rng(1).permutation(len(data)))
    first, other = (tuned_study(rows, protocol, SPACES, trials=7) for rows in (data, shuffled))
    folders = [first.run(tmp_path / "one").folder, other.run(tmp_path / "other", workers=2).folder]
    assert outcome(folders[0]) == outcome(folders[1])
    assert sorted(choices(folders[0])) == [f"reference item-knn/{fold}" for fold in "123"]
    plan = make_plan(first)
    for fold in plan.split.folds:
        assert not set(fold.validation.tolist()) & set(fold.test.tolist())
        assert len(fold.train) + len(fold.validation) + len(fold.test) == len(data)
        tried = validation_data(plan, fold)
        assert tried.test.digest == data.select(fold.validation).digest
        assert tried.whole.digest == data.select(np.union1d(fold.train, fold.validation)).digest


def test_another_seed_suggests_other_parameters(finished):
    events = {event.cell: event for event in journal_of(finished.folder).events("tuning.finished")}
    folds = [events[f"reference item-knn/{fold}"] for fold in ("1", "2")]
    assert folds[0].search == "tpe" and folds[0].seed != folds[1].seed
    assert [t.parameters for t in folds[0].trials] != [t.parameters for t in folds[1].trials]
    assert all(2 <= t.parameters["k"] <= 60 and type(t.parameters["k"]) is int for t in folds[0].trials)
    assert all(0 <= t.parameters["shrinkage"] <= 20 for t in folds[0].trials)


def test_every_trial_is_kept(finished):
    trials = finished.tuning()
    counts = trials.groupby(["algorithm", "fold"]).size()
    assert counts.to_dict() == {
        ("reference item-knn", "1"): 12,
        ("reference item-knn", "2"): 12,
        ("reference puresvd", "1"): 3,
        ("reference puresvd", "2"): 3,
    }
    assert trials.groupby(["algorithm", "fold"])["chosen"].sum().eq(1).all()
    best = trials.groupby(["algorithm", "fold"])["value"].max()
    assert (trials[trials["chosen"]].set_index(["algorithm", "fold"])["value"] == best).all()
    for event in journal_of(finished.folder).events("tuning.finished"):
        stored = pq.read_table(finished.folder / "artifacts" / f"{event.artifacts['trials']}.parquet").to_pylist()
        for row, trial in zip(stored, event.trials, strict=True):
            assert (row["trial"], row["value"], row["state"]) == (trial.number, trial.value, trial.state)
            assert {name: row[f"parameters.{name}"] for name in trial.parameters} == trial.parameters


def test_the_report_and_the_command_state_which_algorithms_were_tuned(finished, study, tmp_path):
    report = write_report(finished).read_text()
    assert "<h2>Tuning</h2>" in report and "factors = " in report and "up to 12 trials" in report
    assert "no: it has no parameters" in report
    sentence = "This table compares tuned with untuned algorithms."
    assert sentence in report and "has them: reference ease." in report
    path = tmp_path / "study.toml"
    path.write_text(FILE)
    printed = CliRunner().invoke(cli, ["run", str(path), "--workers", "1"], catch_exceptions=False).output
    assert sentence in printed and "has them: reference ease." in printed


def test_there_is_no_remark_where_all_algorithms_with_parameters_are_tuned(data, protocol, tmp_path):
    uses = ["reference/puresvd", "reference/item-mean"]
    results = tuned_study(data, protocol, {"puresvd": {"factors": [2, 4]}}, uses).run(tmp_path / "run")
    report = write_report(results).read_text()
    assert "<h2>Tuning</h2>" in report and "untuned" not in report


def test_a_run_without_tuning_has_no_trials(data, tmp_path):
    results = Study(data, "random-5fold", ["reference/popularity"], ["ndcg@10"]).run(tmp_path / "run")
    assert results.tuning().empty
    assert "Tuning" not in write_report(results).read_text()


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_a_finished_tuning_is_not_done_again(study, finished, tmp_path, share, monkeypatch):
    cut = tmp_path / "run"
    shutil.copytree(finished.folder, cut)
    journal = cut / "journal.jsonl"
    content = journal.read_bytes()
    journal.write_bytes(content[: int(len(content) * share)])
    kept = {event.cell for event in read_journal(journal).events("tuning.finished")}
    done = []
    monkeypatch.setattr("repro.study.executors.steps.tune_cell", _noting(done))
    study.run(cut, resume=True)
    assert outcome(cut) == outcome(finished.folder)
    assert set(done) == set(choices(finished.folder)) - kept
    assert kept <= set(journal_of(cut).events("run.resumed")[0].tunings_kept)


def _noting(done):
    def tune(plan, cell, *args, **options):
        done.append(cell.id)
        return loop.tune_cell(plan, cell, *args, **options)

    return tune


def test_a_tuning_whose_trials_are_damaged_is_done_again_with_its_cell(study, finished, tmp_path):
    damaged = tmp_path / "run"
    shutil.copytree(finished.folder, damaged)
    journal = damaged / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    cell = "reference puresvd/1"
    (damaged / "artifacts" / f"{choices(damaged)[cell]['artifacts']['trials']}.parquet").write_bytes(b"PAR1")
    study.run(damaged, resume=True)
    assert outcome(damaged) == outcome(finished.folder)
    written = [(line.event.event, getattr(line.event, "cell", "")) for line in journal_of(damaged).lines]
    assert written.count(("tuning.finished", cell)) == written.count(("cell.finished", cell)) == 2


def test_killed_in_the_middle_and_resumed(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(FILE)
    whole = Study.load(path).run(tmp_path / "whole").folder
    lengths = np.cumsum([len(line) for line in (whole / "journal.jsonl").read_bytes().splitlines(keepends=True)])
    kinds = [line.event.event for line in journal_of(whole).lines]
    target = lengths[kinds.index("tuning.finished")]
    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "repro", "run", str(path), "--into", str(folder), "--workers", "1", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    journal = folder / "journal.jsonl"
    while (not journal.exists() or journal.stat().st_size < target * 0.98) and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    subprocess.run([*command, "--resume"], check=True, capture_output=True)
    assert outcome(folder) == outcome(whole)


def test_optuna_writes_nothing(data, protocol, tmp_path, capfd):
    tuned_study(data, protocol, SPACES, trials=3).run(tmp_path / "run")
    assert capfd.readouterr() == ("", "")


def test_a_trial_that_fails_does_not_stop_the_search(data, protocol, tmp_path):
    results = tuned_study(data, protocol, {"item-knn": {"k": [0, 5, 20]}}).run(tmp_path / "run")
    trials = results.tuning()
    assert list(trials["state"][:3]) == ["failed", "complete", "complete"]
    assert "k" in trials["error"][0] and np.isnan(trials["value"][0])
    assert "2 of 6 gave no value" in write_report(results).read_text()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_cell_fails_where_all_trials_fail_and_the_others_go_on(data, protocol, tmp_path, workers):
    study = tuned_study(data, protocol.replace({"split.repeats": 1}), {"item-knn": {"k": [0, -1]}})
    for resume in (False, True):
        with pytest.raises(StudyError, match=r"1 of 2 cells failed(.|\n)*none of the 2 trials of tuning gave a value"):
            study.run(tmp_path / "run", workers=workers, resume=resume)
    journal = journal_of(tmp_path / "run")
    assert [event.chosen for event in journal.events("tuning.finished")] == [None, None]
    assert [event.cell for event in journal.events("cell.finished")] == ["reference popularity/1"]


def test_an_algorithm_without_values_of_the_metric(data, protocol, tmp_path):
    study = tuned_study(data, protocol, {"puresvd": {"factors": [2, 4]}}, ["reference/puresvd"], metric="rmse")
    with pytest.raises(StudyError, match="the metric is not defined for this algorithm"):
        study.run(tmp_path / "run")


def test_no_trial_is_begun_after_the_time(data, protocol, tmp_path):
    results = tuned_study(data, protocol, GRIDS, seconds=1e-9).run(tmp_path / "run")
    assert results.tuning().groupby("fold").size().to_dict() == {"1": 1, "2": 1}


def test_parameters_suggested_again_are_not_fitted_again(data, protocol, monkeypatch):
    study = tuned_study(data, protocol, {"item-knn": {"k": {"low": 3, "high": 10}}}, trials=7)
    plan = make_plan(study)
    tried = []
    monkeypatch.setattr(
        loop, "_measure", lambda plan, cell, *_: (tried.append(cell.entry.parameters["k"]), (0.5, 1))[1]
    )
    trials = loop.tune_cell(plan, plan.cells[0]).trials
    assert len(trials) == 7 and len(tried) == len(set(tried)) == len({t.parameters["k"] for t in trials}) < 7
    assert loop.best_trial(trials, "higher").number == 1
