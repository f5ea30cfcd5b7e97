"""A framework that does not work stops its own numbers, and no others."""

import json
import os
import subprocess
import sys

import pytest

from repro.plugin.isolation import environment
from repro.replications import Claim, Options, replicate
from repro.replications.claims.claim import claimed_algorithms

# A framework whose algorithms fail in every way there is, and one that cannot be imported at all.
FAILING = """
import os
from repro.plugin import Algorithm, Environment, Framework, Splitter, impl


class Raises:
    def __init__(self, **parameters): ...
    def fit(self, train, *, seed):
        raise ValueError("no factors left")
    def score(self, queries, items): ...


@impl
def repro_framework():
    return Framework("failing", "1.0", "", (Algorithm("raises", "", Raises),))


def split(rows, seed):
    raise RuntimeError("no folds today")


@impl
def repro_splitters():
    return [Splitter("failing/none", "", split)]
"""
UNIMPORTABLE = """
from repro.plugin import Algorithm, Environment, Framework, impl


@impl
def repro_framework():
    needs = Environment(("breaks_on_import",), (), "pip install it")
    return Framework("unimportable", "1.0", "", (Algorithm("x", "", dict),), {}, needs)
"""
PLUGINS = {"failing": FAILING, "unimportable": UNIMPORTABLE, "broken": "import no_such_module_here"}
CLAIM = """
title = "Frameworks that do not work"
source = "a table"
seeds = [7]
[data]
name = "ratings.csv"
[protocol]
base = "random-5fold"
split.folds = 2
[protocols.theirs]
base = "random-5fold"
split.strategy = "failing/none"
{algorithms}
[table]
metrics = ["hit@10"]
Mean = ["0.00"]
Raises = ["0.1"]
Import = ["0.1"]
Broken = ["0.1"]
[[cells]]
algorithm = "Mean"
metric = "hit@10"
under = "theirs"
value = "0.1"
[[facts]]
name = "users"
value = "40"
[[patterns]]
says = "the mean is above nothing"
left = {{ algorithm = "Mean", metric = "hit@10" }}
is = ">="
right = 0
[[patterns]]
says = "the other is, too"
left = {{ algorithm = "Raises", metric = "hit@10" }}
is = ">="
right = 0
"""
USES = {"Mean": "reference/item-mean", "Raises": "failing/raises", "Import": "unimportable/x", "Broken": "broken/x"}


def test_each_failure_stops_its_own_numbers_only(folder, tmp_path_factory, install_plugin):
    site = tmp_path_factory.mktemp("site")
    for name, source in PLUGINS.items():
        install_plugin(site, name, source)
    (site / "breaks_on_import.py").write_text("raise ImportError('a library is missing')\n")
    lines = "".join(f'[[algorithms]]\nuse = "{use}"\nlabel = "{label}"\n' for label, use in USES.items())
    (folder / "claim.toml").write_text(CLAIM.format(algorithms=lines))
    done = subprocess.run(
        [sys.executable, "-m", "repro", "replicate", "claim.toml", "--json", "--workers", "1", "--budget", "1"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    judgements = json.loads(done.stdout)["verdicts"]
    verdicts = {
        (judgement["algorithm"], judgement["under"]): judgement
        for judgement in judgements
        if judgement["what"] == "cell"
    }
    assert verdicts["Mean", ""]["verdict"] in ("exact", "differs") and verdicts["Mean", ""]["measured"] is not None
    reasons = {
        ("Raises", ""): "no factors left",
        ("Import", ""): "a library is missing",
        ("Broken", ""): "no_such_module_here",
        ("Mean", "theirs"): "no folds today",
    }
    for key, reason in reasons.items():
        assert verdicts[key]["verdict"] == "not run" and reason in verdicts[key]["why"], verdicts[key]
    assert [judgement["verdict"] for judgement in judgements if judgement["what"] == "fact"] == ["exact"]
    patterns = [judgement for judgement in judgements if judgement["what"] == "pattern"]
    assert [judgement["verdict"] for judgement in patterns] == ["holds", "not run"] and "no factors left" in patterns[
        1
    ]["why"]


def test_an_environment_that_cannot_be_built_stops_its_own_numbers_only(write, measured, monkeypatch, tmp_path):
    monkeypatch.setenv("REPRO_ENVIRONMENTS", str(tmp_path / "environments"))
    monkeypatch.setattr(environment, "VENV", ("-c", "raise SystemExit('no space left')"))
    right = f"{measured().loc['Pop', 'ndcg@10']:.4f}"
    more = '[frameworks]\nsurprise = ["scikit-surprise==1.1.3"]\n[[algorithms]]\nuse = "surprise/SVD"\nlabel = "SVD"\n'
    table = f'[table]\nmetrics = ["ndcg@10"]\nPop = ["{right}"]\nSVD = ["0.1"]\n'
    lines = []
    result = replicate(write(more + table), options=Options(build=lines.append)).judgements
    assert [judgement.verdict for judgement in result] == ["exact", "not run"]
    assert "the environment of surprise cannot be built" in result[1].why and "no space left" in result[1].why


def test_lines_ask_for_algorithms_one_by_one():
    lines = ["reference/ease", {"use": "*/popularity", "label": "Pop"}, {"use": "reference/bias", "seed": 3}]
    result = claimed_algorithms(lines)
    assert result[0].line == {"use": "reference/ease", "label": "reference ease"}
    assert result[-1].line == {"use": "reference/bias", "label": "reference bias", "seed": 3}
    assert all(
        algorithm.line == {"use": f"{algorithm.framework}/popularity", "label": f"{algorithm.framework} Pop"}
        for algorithm in result[1:-1]
    )
    assert "reference" in {algorithm.framework for algorithm in result[1:-1]}


@pytest.mark.parametrize("labels", [("Pop",), ("Pop", "Bias")])
def test_a_study_of_some_algorithms_asks_for_no_others(write, labels):
    claim = Claim.load(write('[table]\nmetrics = ["rmse"]\nBias = ["0.9"]\n'))
    study = claim.study(claim.settings[""].protocol, ["rmse"], 7, labels, labels)
    assert [entry.label for entry in study.entries] == list(labels)
