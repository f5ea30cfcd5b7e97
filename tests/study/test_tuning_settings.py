"""The section [tune]: search spaces, budgets, validation parts, and the errors of wrong settings."""

import numpy as np
import pytest

from repro import Study, extras
from repro.errors import ProtocolError, StudyError
from repro.plugin import Algorithm, Framework, Parameter, Scores, plugins
from repro.protocol import Protocol
from repro.reports import write_report
from repro.study import make_plan

from .tuned import FILE, GRID, GRIDS, SPACES, journal_of, tuned_study

BUDGETS = [(6, "train"), (7, "train"), (6, "train+validation")]
FITTED = []


class Recorder:
    """Records the digest of the rows that each instance is fitted on."""

    def __init__(self, *, weight, depth):
        self.weight = weight

    def fit(self, train, *, seed):
        FITTED.append(train.digest)

    def score(self, queries, items):
        users = queries.users
        return Scores(np.outer(self.weight + users, items))


TOY = Algorithm(
    "item-knn",
    "a toy",
    Recorder,
    parameters=(Parameter("weight", 1.0, "a weight"), Parameter("depth", "flat", "a depth", ("flat", "deep"))),
    unmapped={"k": "all neighbours take part"},
)


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(plugins().frameworks, "toy", Framework("toy", "1", "for tests", (TOY,)))
    FITTED.clear()


@pytest.mark.parametrize("parts", ["train", "train+validation", "all"])
def test_algorithms_are_fitted_on_the_stated_parts(toy, data, protocol, tmp_path, parts):
    one_repeat = protocol.replace({"split.repeats": 1, "split.fitted_on": parts})
    uses = ["toy/item-knn", {"use": "toy/item-knn", "label": "untuned", "tune": False}]
    study = tuned_study(data, one_repeat, {"item-knn": {"weight": [0.5, 2.0]}}, uses)
    plan = make_plan(study)
    (fold,) = plan.split.folds
    study.run(tmp_path / "run")
    rows = {"train": [fold.train], "train+validation": [fold.train, fold.validation]}
    rows["all"] = [fold.train, fold.validation, fold.test]
    trial, final = (plan.interactions.select(np.sort(np.concatenate(rows[name]))).digest for name in ("train", parts))
    assert [trial, trial, final, final] == FITTED
    assert {event.fitted_on for event in journal_of(tmp_path / "run").events("cell.started")} == {parts}


def test_parameters_that_a_framework_lacks_are_left_out_and_recorded(toy, data, protocol, tmp_path):
    study = tuned_study(data, protocol, {"item-knn": {"k": [1, 2], "weight": [1, 2.5]}}, ["toy/item-knn"])
    study.run(tmp_path / "run")
    for event in journal_of(tmp_path / "run").events("tuning.finished"):
        assert event.left_out == {"k": "all neighbours take part"}
        assert [trial.parameters for trial in event.trials] == [{"weight": 1.0}, {"weight": 2.5}]
    assert journal_of(tmp_path / "run").events("cell.started")[0].unmapped == {"k": "all neighbours take part"}


def test_a_framework_without_these_parameters_is_not_tuned(toy, data, protocol, tmp_path):
    uses = ["toy/item-knn", "reference/item-knn"]
    results = tuned_study(data, protocol, {"item-knn": {"k": [4, 9]}}, uses).run(tmp_path / "run")
    assert set(results.tuning()["algorithm"]) == {"reference item-knn"}
    assert "has them: toy item-knn." in write_report(results).read_text()
    assert journal_of(results.folder).events("cell.started")[0].unmapped == {"k": "all neighbours take part"}


def test_a_space_for_one_framework_applies_to_that_framework_only(toy, data, protocol):
    spaces = {"item-knn": {"k": [4, 9]}, "toy/item-knn": {"weight": [1.0, 2.0]}}
    study = tuned_study(data, protocol, spaces, ["toy/item-knn", "reference/item-knn"])
    assert [list(entry.space) for entry in study.entries] == [["weight"], ["k"]]


def test_a_parameter_that_is_stated_is_not_tuned(data, protocol):
    stated = {"use": "reference/item-knn", "parameters": {"k": 7}}
    (entry,) = tuned_study(data, protocol, GRIDS, [stated]).entries
    assert list(entry.space) == ["similarity"]
    assert entry.left_out == {"k": "the study states it"}


def test_the_study_file_of_a_run_reads_back_as_the_same_study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(
        FILE + 'tune = false\n[[algorithms]]\nuse = "reference/user-knn"\nlabel = "as it is"\ntune = false\n'
    )
    study = Study.load(path)
    (tmp_path / "again.toml").write_text(study.to_toml())
    (tmp_path / "protocol.toml").write_text(study.protocol.to_toml())
    reloaded = Study.load(tmp_path / "again.toml")
    assert reloaded.digest == study.digest
    assert [entry.space for entry in reloaded.entries] == [entry.space for entry in study.entries]
    assert [bool(entry.space) for entry in study.entries] == [True, True, False, False]
    assert study.with_protocol(study.protocol.replace({"ties.break": "worst"})).tune is not None


def test_the_budget_and_the_rows_of_the_fit_change_the_digest_of_a_study(data, protocol):
    digests = {
        tuned_study(data, protocol.replace({"split.fitted_on": rows}), GRIDS, trials=trials).digest
        for trials, rows in BUDGETS
    }
    untuned = Study(data, protocol, ["reference/item-knn", "reference/popularity"], ["ndcg@10", "rmse"], seed=7)
    assert len(digests | {untuned.digest}) == 4
    assert "tune" not in untuned.describe()


def test_optuna_is_needed_only_for_spaces_larger_than_the_trials(data, protocol, monkeypatch, tmp_path):
    monkeypatch.setattr(extras, "is_installed", lambda module: False)
    make_plan(tuned_study(data, protocol, GRIDS))
    for spaces in (SPACES, GRIDS):
        with pytest.raises(StudyError, match=r'pip install "recsys-repro\[tune\]"'):
            make_plan(tuned_study(data, protocol, spaces, trials=5))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"split__strategy": "ratio"}, "set split.validation_ratio"),
        ({"split__strategy": "user-ratio"}, "set split.validation_ratio"),
        ({"split__strategy": "all-but-n", "split__n": 2}, "set split.validation_n"),
        ({"split__strategy": "kfold"}, "set split.validation_share"),
        ({"split__strategy": "time-users"}, "set split.validation_share"),
    ],
)
def test_a_validation_part_is_needed(data, changes, sentence, tmp_path):
    study = tuned_study(data, Protocol.load("random-5fold", **changes), GRIDS)
    with pytest.raises(StudyError, match=r"\[tune\] needs a validation part") as caught:
        study.run(tmp_path / "run")
    assert sentence in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_tuning_refuses_candidates_from_a_file(data, protocol, tmp_path):
    (tmp_path / "negatives.txt").write_text("1 2 3\n")
    from_file = protocol.replace({"candidates.base": "file", "candidates.file": str(tmp_path / "negatives.txt")})
    with pytest.raises(StudyError, match=r'candidates.base = "file" has those of the test part alone'):
        make_plan(tuned_study(data, from_file, GRIDS))


def test_a_metric_of_ratings_needs_ratings(data, protocol):
    implicit = protocol.replace({"relevance.rule": "any"})
    section = {"metric": "rmse", "trials": 3, "space": {"item-knn": GRID}}
    study = Study(data.to_frame()[["user", "item"]], implicit, ["reference/item-knn"], ["ndcg@10"], tune=section)
    with pytest.raises(ProtocolError, match="metric rmse compares predictions with ratings"):
        make_plan(study)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('metric = "ap"', 'metrc = "ap"', "[tune]: unknown key 'metrc'; did you mean 'metric'"),
        ('metric = "ap"', "", "[tune] has no 'metric'"),
        ('metric = "ap"', 'metric = ["ap"]', "must be one metric"),
        ('metric = "ap"', 'metric = "app"', "there is no metric 'app'"),
        ('metric = "ap"', 'metric = "temporal-diversity@5"', "metric temporal-diversity@5 needs"),
        ("trials = 4", "trials = 0", "trials = 0 must be a whole number of at least 1"),
        ("trials = 4", "trials = 4\nseconds = -1", "seconds = -1 must be a number above 0"),
        ("trials = 4", 'trials = 4\nrefit = "all"', 'write split.fitted_on = "all"'),
        ("low = 3", "lo = 3", "unknown key 'lo'; did you mean 'low'"),
        ("low = 3", "low = 70", "low = 70 and high = 60 must be numbers, low the smaller one"),
        ("low = 3", 'low = "3"', "must be numbers, low the smaller one"),
        ("low = 3", "low = 3.5", "k = 3.5 must be int"),
        ("low = 3", "low = 0, log = true", "true only where low is above 0"),
        ("{ low = 3, high = 60 }", "5", "must be a list of values, or a range"),
        ("{ low = 3, high = 60 }", "[]", "must be a list of one or more values"),
        ("{ low = 3, high = 60 }", "[5, 5.0]", "has a value twice"),
        ('["cosine", "pearson"]', '["cosine", "jacard"]', "similarity"),
        ('["cosine", "pearson"]', "{ low = 1, high = 2 }", "list its values"),
        ("k = {", "kk = {", "reference/user-knn has no such parameter"),
        ('space."puresvd"', 'space."svd"', "the study has no such algorithm; did you mean"),
        ('use = "reference/ease"', 'use = "reference/ease"\ntune = true', "and there is nothing to try"),
        ('use = "reference/ease"', 'use = "reference/ease"\ntune = "no"', "must be true or false"),
    ],
)
def test_invalid_settings_are_rejected(tmp_path, old, new, sentence):
    assert old in FILE
    path = tmp_path / "study.toml"
    path.write_text(FILE.replace(old, new))
    with pytest.raises((StudyError, ProtocolError)) as caught:
        make_plan(Study.load(path))
    assert sentence in str(caught.value)


def test_nothing_to_tune_is_rejected(data, protocol):
    with pytest.raises(StudyError, match="leaves nothing to tune"):
        tuned_study(data, protocol, GRIDS, [{"use": "reference/item-knn", "tune": False}])
