"""``*/algorithm`` where some frameworks are not here: they are left out, with a reason, in the open."""

import json
import os
import subprocess
import sys

import pytest

from repro import Study
from repro.errors import StudyError
from repro.reports import write_report
from repro.runs.journal import read_journal

BUILT = "`repro plugins install recbole` builds its environment"


@pytest.fixture
def nothing_built(tmp_path, monkeypatch):
    """As on a fresh machine: no framework has an environment of its own."""
    monkeypatch.setenv("REPRO_ENVIRONMENTS", str(tmp_path / "environments"))


def test_frameworks_without_their_environment_are_left_out_with_what_to_do(nothing_built, data, tmp_path):
    study = Study(data, "random-5fold", ["*/ease", "*/multi-vae"], ["ndcg@10"])
    assert [entry.use for entry in study.entries] == ["lenskit/ease", "reference/ease"]
    assert set(study.left_out) == {
        *(f"{framework}/ease" for framework in ("cornac", "recbole", "recpack", "rectools")),
        *(f"{framework}/multi-vae" for framework in ("cornac", "recbole", "recpack", "*")),
    }
    assert study.left_out["recbole/ease"] == study.left_out["recbole/multi-vae"]
    assert study.left_out["recbole/ease"].startswith(f"recbole is not installed; {BUILT}")
    assert study.left_out["*/multi-vae"] == "no framework that can run here has multi-vae"
    results = study.run(tmp_path / "run")
    assert read_journal(results.folder / "journal.jsonl").events("run.started")[0].left_out == study.left_out
    report = write_report(results).read_text()
    assert report.count(f"Left out: recbole is not installed; {BUILT}") == 1


def test_the_command_says_it_before_the_run(nothing_built, tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(
        'protocol = "random-5fold"\nmetrics = ["ndcg@10"]\n[data]\nname = "synthetic"\nusers = 60\nitems = 40\n'
        'ratings = 800\n[[algorithms]]\nuse = "*/popularity"\n[[algorithms]]\nuse = "*/multi-vae"\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "repro", "run", str(path), "--workers", "1"],
        env={**os.environ, "REPRO_PLUGINS": "reference,recbole"},
        capture_output=True,
        text=True,
        check=True,
    )
    (chosen,) = (line for line in done.stderr.splitlines() if "REPRO_PLUGINS" in line)
    assert chosen.startswith("left out: REPRO_PLUGINS = reference,recbole leaves out ")
    assert {"cornac", "implicit", "surprise"} <= set(chosen.partition(" leaves out ")[2].split(", "))
    assert f"left out: recbole is not installed; {BUILT}" in done.stderr
    assert "left out: no framework that can run here has multi-vae" in done.stderr
    began = json.loads((tmp_path / "run" / "journal.jsonl").read_text().splitlines()[0])["event"]
    assert list(began["left_out"]) == ["*/multi-vae", "REPRO_PLUGINS", "recbole/multi-vae", "recbole/popularity"]
    assert "reference popularity" in done.stdout


def test_a_study_with_nothing_left_says_why(nothing_built, data):
    with pytest.raises(StudyError, match=r"at least one algorithm(.|\n)*recbole is not installed; `repro plugins"):
        Study(data, "random-5fold", ["*/multi-vae"], ["ndcg@10"])


def test_one_framework_by_name_must_be_there(nothing_built, data, tmp_path):
    with pytest.raises(StudyError, match=f"^recbole is not installed; {BUILT}"):
        Study(data, "random-5fold", ["recbole/ease"], ["ndcg@10"]).run(tmp_path / "run")


def test_a_framework_without_the_option_that_is_stated_is_left_out(data):
    pearson = {"use": "*/item-knn", "label": "pearson", "parameters": {"similarity": "pearson"}}
    study = Study(data, "random-5fold", ["*/item-knn", pearson], ["ndcg@10"])
    labels = [entry.label for entry in study.entries]
    assert {"implicit item-knn", "reference item-knn", "reference pearson", "surprise pearson"} <= set(labels)
    assert "implicit pearson" not in labels
    assert study.left_out["implicit/item-knn"] == (
        "implicit has no item-knn with similarity = pearson, only cosine, tfidf, bm25, dot"
    )
    lenskit = next(entry for entry in study.entries if entry.label == "lenskit pearson")
    assert set(lenskit.unmapped) == {"similarity"}  # it has none to choose, and says so


def test_a_name_that_nobody_has_is_a_mistake(data):
    with pytest.raises(StudyError, match="no framework here has an algorithm 'eese'; did you mean 'ease'"):
        Study(data, "random-5fold", ["*/eese"], ["ndcg@10"])


def test_what_is_left_out_is_not_tuned(nothing_built, data, tmp_path):
    spaces = {"multi-vae": {"latent": [5, 10]}, "recbole/ease": {"regularisation": [1.0, 2.0]}, "ease": {}}
    spaces["ease"]["regularisation"] = [10.0, 100.0]
    tune = {"metric": "ndcg@10", "trials": 2, "space": spaces}
    study = Study(data, "mansoury-profile-50-25-25", ["*/ease", "*/multi-vae"], ["ndcg@10"], tune=tune)
    assert [(entry.use, set(entry.space)) for entry in study.entries] == [
        ("lenskit/ease", {"regularisation"}),
        ("reference/ease", {"regularisation"}),
    ]
    (tmp_path / "study.toml").write_text(study.to_toml())
    (tmp_path / "protocol.toml").write_text(study.protocol.to_toml())
    assert "multi-vae" not in study.to_toml()
    assert [entry.space for entry in Study.load(tmp_path / "study.toml").entries] == [e.space for e in study.entries]
