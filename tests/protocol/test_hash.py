"""Hashes of protocols and studies: what bears on the numbers that were asked for, and nothing else."""

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro import Study
from repro.app import Application
from repro.data import synthetic_interactions
from repro.errors import ProtocolError
from repro.evaluation.metrics import bearing, metrics, parse_measure
from repro.plugin import Plugins
from repro.protocol import Decision, Option, Protocol, Registry, model, protocol_names, registry, resolve
from repro.protocol.model import HASH_VERSION
from repro.runs.journal import read_journal
from repro.study.cell import run_cell
from repro.study.plan import make_plan
from repro.verification import verify

BASE = Protocol.load("random-5fold")


def test_no_default_was_changed():
    """A changed default changes what hashes stand for: give the decision another id, or raise HASH_VERSION.

    A new decision, whose default must leave numbers as they were, is added to defaults.toml.
    """
    decisions = Application(Plugins()).registry.values()
    pinned = tomllib.loads(Path(__file__).with_name("defaults.toml").read_text())
    assert pinned["version"] == HASH_VERSION
    assert {decision.id: decision.default for decision in decisions if not decision.required} == pinned["defaults"]
    assert {decision.id for decision in decisions if decision.required} == set(pinned["required"])


def changed(changes):
    try:
        return BASE.replace(changes)
    except ProtocolError:
        return None


CHANGES = st.lists(
    st.sampled_from(sorted(registry())).flatmap(
        lambda key: st.tuples(st.just(key), st.sampled_from(registry()[key].tried or ("none",)))
    ),
    max_size=4,
).map(dict)


@settings(max_examples=300)
@given(these=CHANGES, other=CHANGES)
def test_hashes_are_equal_exactly_where_protocols_mean_the_same(these, other):
    first, second, both = changed(these), changed(other), changed(these | other)
    protocols = [protocol for protocol in (BASE, first, second, both) if protocol is not None]
    for left in protocols:
        for right in protocols:
            assert (left.hash == right.hash) == (dict(left) == dict(right))


def test_every_single_change_of_a_decision_is_another_hash():
    tried = {(): BASE.hash}
    for key in BASE:
        for value in registry()[key].tried:
            if value != BASE[key] and (protocol := changed({key: value})) is not None:
                tried[key, value] = protocol.hash
    assert len(tried) > 150
    assert len(set(tried.values())) == len(tried)


NEW = ("metric.toy.kind", "metric.ndcg.another", "average.another", "split.another")


def test_new_decisions_change_no_hash(monkeypatch):
    """More decisions than today: a variant of another metric, one of a known metric, one of a known family, and an
    option of a known decision. Their defaults leave numbers as they were."""
    more = [Decision(name, "?", options=(Option("a", ""), Option("b", "")), default="a") for name in NEW]
    known = dict(registry())
    known["ties.break"] = replace(known["ties.break"], options=(*known["ties.break"].options, Option("another", "")))
    wider = Registry([*more, *known.values()])
    protocols = [Protocol.load(name) for name in protocol_names()[:25]]
    hashes = [protocol.hash for protocol in protocols]
    monkeypatch.setattr(model, "registry", lambda: wider)
    for before, known_hash in zip(protocols, hashes, strict=True):
        stated = {key: value for key, value in before.items() if before.origins[key] != "default"}
        after = resolve(stated, {}, known=wider)
        assert set(NEW) <= set(after) - set(before)
        assert after.hash == known_hash
        assert len({resolve({**stated, name: "b"}, {}, known=wider).hash for name in NEW} - {known_hash}) == len(NEW)


def digest(metrics, protocol=BASE, **options):
    return Study("synthetic", protocol, ["reference/popularity"], metrics, **options).digest


def test_a_study_hashes_the_decisions_that_bear_on_its_metrics():
    stated = BASE.replace({"metric.ndcg.gain": "exp2"})
    assert digest(["ndcg[gain=exp2]@10"]) == digest(["ndcg@10"], stated) != digest(["ndcg@10"])
    assert digest(["precision@10"], stated) == digest(["precision@10"])
    assert digest(["urmse"]) == digest(["rmse"], BASE.replace({"predict.average": "users"})) != digest(["rmse"])
    # Practical accuracy is made of precision as the protocol has it.
    skipping = BASE.replace({"average.no_list": "skip"})
    of_lists = skipping.replace({"metric.precision.denominator": "list"})
    product = "practical-accuracy[of=precision]@10"
    assert digest([product], of_lists) != digest([product], skipping)
    assert digest([product, "precision[denominator=list]@10"], skipping) != digest([product, "precision@10"], of_lists)
    for change in ({"predict.clip": "train"}, {"predict.missing": "nan"}, {"metric.ap.denominator": "hits"}):
        assert digest(["ndcg@10"], BASE.replace(change)) == digest(["ndcg@10"])
    for change in ({"ties.break": "random"}, {"missing.rank": "drop"}, {"relevance.threshold": 3}):
        other = BASE.replace(change)
        assert digest(["ndcg@10"], other) != digest(["ndcg@10"])
        assert digest(["rmse"], other) == digest(["rmse"])
    tune = {"metric": "rmse", "trials": 1, "space": {"item-knn": {"k": [1]}}}
    by_ratings = [
        Study("synthetic", protocol, ["reference/item-knn"], ["ndcg@10"], tune=tune).digest
        for protocol in (BASE, BASE.replace({"predict.clip": "train"}))
    ]
    assert len(set(by_ratings)) == 2


@pytest.mark.parametrize("metric", ["ndcg@10", "rmse", "catalogue-coverage@10"])
def test_what_does_not_bear_on_a_metric_does_not_change_its_numbers(metric):
    data = synthetic_interactions(users=15, items=12, ratings=100, seed=2)
    protocol = BASE.replace({"split.strategy": "ratio"})

    def numbers(protocol):
        plan = make_plan(Study(data, protocol, ["reference/item-knn"], [metric]))
        return [run_cell(plan, cell).values for cell in plan.cells]

    expected, tried = numbers(protocol), 0
    outside = set(protocol) - set(bearing(protocol, [parse_measure(metric, protocol, metrics())]))
    for key in sorted(outside - {key for key in outside if key.startswith("metric.")}):
        for value in registry()[key].tried:
            if value in (protocol[key], "file"):
                continue
            try:
                other = protocol.replace({key: value})
            except ProtocolError:
                continue
            assert numbers(other) == expected, (key, value)
            tried += 1
    assert tried > 5


PLUGIN = """
import numpy as np
from repro.evaluation.metrics import RankingMetric, Ratio
from repro.plugin import impl
from repro.protocol import Decision, Option

KIND = Decision("metric.toy.kind", "Which?", options=(Option("a", "one"), Option("b", "other")), default="a")


@impl
def repro_metrics():
    one = lambda ranked, k, variants, background: Ratio(np.ones(len(ranked)), np.ones(len(ranked)))
    return [RankingMetric("toy", "A toy", one, cutoff="required", variants=(KIND,))]
"""
# A version to come, in which nDCG has a variant more.
LATER = """
import dataclasses
import repro.evaluation.metrics.ndcg as module
from repro.protocol import Decision, Option
more = Decision("metric.ndcg.another", "Which?", options=(Option("a", "one"), Option("b", "other")), default="a")
module.METRIC = dataclasses.replace(module.METRIC, variants=(*module.METRIC.variants, more))
"""
CODE = """
import sys
from repro import Study
from repro.protocol import registry
from repro.runs.run import Run
from repro.verification import verify

study, run, whole, action, known = sys.argv[1:]
assert not known or known in registry(), known
if action == "begin":
    Study.load(study).run(run, keep_scores=True)
else:
    Study.load(study).run(run, keep_scores=True, resume=True)
    for folder in (run, whole):
        assert verify(folder, "retrain").holds, verify(folder, "retrain")
        assert len(Run(folder).compare("ndcg@5").pairs) == 1
"""
STUDY = """
question = "Does it go on?"
metrics = ["ndcg@5", "rmse"]
[data]
name = "synthetic"
users = 30
items = 20
ratings = 300
[protocol]
base = "random-5fold"
split.folds = 2
average.folds = "pooled"
[[algorithms]]
use = "reference/popularity"
[[algorithms]]
use = "reference/item-knn"
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory, install_plugin):
    """A folder with an installed plug-in that brings a metric with a variant."""
    return install_plugin(tmp_path_factory.mktemp("site"), "toy_metric", PLUGIN)


def call(*arguments, site=None, code=CODE):
    paths = [*([str(site)] if site else []), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def cut_off(folder):
    """As a kill leaves a run: its journal ends with the first finished cell."""
    lines = (folder / "journal.jsonl").read_text().splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if '"cell.finished"' in line)
    (folder / "journal.jsonl").write_text("".join(lines[: first + 1]))
    for name in ("results.parquet", "results.csv", "report.html"):
        (folder / name).unlink(missing_ok=True)


@pytest.mark.parametrize("change", ["installed since", "removed since", "another variant of its own metric"])
def test_a_run_goes_on_with_other_metrics_installed(tmp_path, installed, change):
    (tmp_path / "study.toml").write_text(STUDY)
    study, run, complete = (tmp_path / name for name in ("study.toml", "run", "whole"))
    if change == "removed since":
        call(study, run, complete, "begin", "metric.toy.kind", site=installed)
    else:
        Study.load(study).run(run, keep_scores=True)
    shutil.copytree(run, complete)
    cut_off(run)
    match change:
        case "installed since":
            call(study, run, complete, "go on", "metric.toy.kind", site=installed)
        case "removed since":
            Study.load(study).run(run, keep_scores=True, resume=True)
        case _:
            call(study, run, complete, "go on", "metric.ndcg.another", code=LATER + CODE)
    assert len(read_journal(run / "journal.jsonl").events("run.resumed")[0].cells_kept) == 1
    assert (run / "results.parquet").read_bytes() == (complete / "results.parquet").read_bytes()
    for folder in (run, complete):
        assert verify(folder, "rescore").holds
