"""Cells on a Ray cluster of two real nodes: the bits of a local run, also when a node, a task or the driver dies."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster

from repro import Study
from repro.current import reset
from repro.errors import StudyError
from repro.evaluation.blocks import ExecutionOptions, InThreads
from repro.plugin import plugins
from repro.plugin.isolation import environment
from repro.protocol import Protocol, parse_protocol
from repro.runs.journal import read_journal
from repro.study import RunOptions, run_study
from repro.study.cell import run_cell
from repro.study.executors.on_node import OnNodes
from repro.study.plan import make_plan

from .ray_plugins import HERE, SEES_HERE, STAGED, TINY, add_wheel

pytestmark = pytest.mark.xdist_group("ray")

NODE = {"num_cpus": 1, "object_store_memory": 150 * 2**20}
SECONDS = 120  # how long a test waits at most

SAMPLED = """
[relevance]
rule = "any"
[split]
strategy = "user-ratio"
[candidates]
base = "all-items"
relevant = "one"
negatives = "sampled"
sample_size = 20
[average]
over = "lists"
"""


@pytest.fixture(scope="module")
def plugin_folder(tmp_path_factory, install_plugin):
    """A folder with two installed plug-ins, for the nodes and for this process."""
    folder, wheels = tmp_path_factory.mktemp("plug-ins"), tmp_path_factory.mktemp("wheels")
    add_wheel(wheels)
    for name, source in (("staged", STAGED), ("tiny", TINY.replace("WHEELS", str(wheels)))):
        install_plugin(folder, name, source)
    return folder


@pytest.fixture(scope="module", autouse=True)
def known_here(plugin_folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(plugin_folder))
        patch.setenv("REPRO_PLUGINS", "reference,staged,tiny")
        reset()
        yield
    for name in ("plugin_staged", "plugin_tiny"):
        sys.modules.pop(name, None)
    reset()


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """An environment that sees the packages of this one, and is small enough to be copied."""
    folder = tmp_path_factory.mktemp("bare") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (folder / HERE.relative_to(sys.prefix) / "here.pth").write_text(SEES_HERE)
    return folder


class TwoNodes:
    """A cluster of two nodes with a core each, in the bare environment, which Ray copies to add requirements.

    ``variables`` are the environment variables of the nodes.
    """

    def __init__(self, python, folder, variables):
        self._python, self._variables = python, variables
        self.folder, self.environments = Path(folder), Path(variables["REPRO_ENVIRONMENTS"])
        checks = {
            "health_check_initial_delay_ms": 0,
            "health_check_period_ms": 1000,
            "health_check_failure_threshold": 5,
        }
        head = {"include_dashboard": False, "temp_dir": folder, "_system_config": checks}
        with self._environment_of_nodes():
            self._cluster = Cluster(initialize_head=True, head_node_args={**NODE, **head})
        self.address = self._cluster.address
        self.add()

    def add(self):
        with self._environment_of_nodes():
            return self._cluster.add_node(**NODE)

    def lose(self, node):
        self._cluster.remove_node(node, allow_graceful=False)

    def ids(self):
        return [node.node_id for node in self._cluster.list_all_nodes()]

    def close(self):
        self._cluster.shutdown()

    @contextlib.contextmanager
    def _environment_of_nodes(self):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self._variables.items():
                patch.setenv(name, value)
            patch.setattr(sys, "executable", self._python)
            yield


@pytest.fixture(scope="module")
def cluster(plugin_folder, bare, tmp_path_factory):
    short = tempfile.mkdtemp(prefix="ray")  # the paths of sockets must be short
    (Path(short) / "ray").mkdir()  # where Ray leaves the address
    variables = {
        "RAY_TMPDIR": short,
        "PYTHONPATH": os.pathsep.join([str(plugin_folder), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "REPRO_ENVIRONMENTS": str(tmp_path_factory.mktemp("none")),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    nodes = TwoNodes(str(bare / "bin" / "python"), short, variables)
    yield nodes
    ray.shutdown()
    nodes.close()
    shutil.rmtree(short, ignore_errors=True)


@pytest.fixture
def there(cluster):
    """Options of a run on the cluster, over a connection that tests share: the worker processes of Ray stay."""
    if not ray.is_initialized():
        ray.init(cluster.address, log_to_driver=False)
    return {"executor": "ray"}


@pytest.fixture
def remote(cluster):
    """Options of a run on the cluster with a connection of its own."""
    ray.shutdown()
    return {"executor": "ray", "address": cluster.address}


@pytest.fixture
def stage(tmp_path):
    return tmp_path / "stage"


@pytest.fixture
def staged(data, stage):
    """Makes a study of staged algorithms, each on two folds; those that wait do so until ``stage / "go"`` is there."""
    stage.mkdir()

    def make(*stages, folds=2):
        algorithms = [
            {"use": "staged/staged", "label": name, "parameters": {"stage": name, "folder": str(stage)}}
            for name in stages
        ]
        protocol = Protocol.load("random-5fold", split__folds=2) if folds == 2 else parse_protocol(SAMPLED, "sampled")
        return Study(data, protocol, algorithms, ["ndcg@10", "hit@5"], seed=7)

    return make


@pytest.fixture(scope="module")
def tiny_environment(bare, tmp_path_factory):
    """The environment of the tiny framework on this machine; the nodes have none."""
    folder = tmp_path_factory.mktemp("environments")
    copy = f"import shutil, sys; shutil.copytree({str(bare)!r}, sys.argv[1], symlinks=True)"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(environment, "VENV", ("-c", copy))
        patch.setattr(environment, "WORKER", ())
        patch.setenv("REPRO_ENVIRONMENTS", str(folder))
        environment.build("tiny", plugins().environment_of("tiny"), lambda line: None)
    return folder


@pytest.fixture
def tiny(cluster, data, tiny_environment, monkeypatch):
    """A study of the tiny framework, which no node has."""
    for built in cluster.environments.iterdir():
        shutil.rmtree(built) if built.is_dir() else built.unlink()
    monkeypatch.setenv("REPRO_ENVIRONMENTS", str(tiny_environment))
    freeze(tiny_environment, "tiny-framework==2.0")
    return Study(data, Protocol.load("random-5fold", split__folds=2), ["tiny/constant"], ["ndcg@10"], seed=7)


def freeze(environments, *pins):
    """State the packages of the environment, without those that it sees of this one."""
    (complete,) = environments.glob("tiny-*/complete.json")
    complete.write_text(json.dumps({"freeze": pins}))


def until(condition):
    """Wait until a condition is true."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def cells_of(folder):
    return read_journal(folder / "journal.jsonl").events("cell.finished")


def outcome(folder):
    """The results that must not depend on where they were computed."""
    cells = {event.cell: (event.artifacts, event.digests, event.values) for event in cells_of(folder)}
    return cells, (folder / "results.parquet").read_bytes()


def test_a_study_on_ray_has_the_bits_of_a_local_one(cluster, remote, study, tmp_path):
    run_study(study, tmp_path / "here")
    run_study(study, tmp_path / "there", RunOptions(**remote))
    assert outcome(tmp_path / "there") == outcome(tmp_path / "here")
    journal = read_journal(tmp_path / "there" / "journal.jsonl")
    began = journal.events("run.started")[0]
    assert (began.executor, began.workers, began.versions["ray"]) == ("ray", 2, ray.__version__)
    nodes = {node[:8] for node in cluster.ids()}
    assert {event.node.rpartition("/")[2] for event in journal.events("cell.finished")} <= nodes
    assert not ray.is_initialized()


def test_a_node_that_is_lost_in_the_middle_changes_nothing(cluster, there, staged, stage, tmp_path):
    """Four cells that wait: all three nodes have one in hand when the third is lost."""
    lost = cluster.add()

    def lose():
        try:
            until((stage / lost.node_id).exists)
            cluster.lose(lost)
        finally:
            (stage / "go").touch()

    losing = threading.Thread(target=lose)
    losing.start()
    run_study(staged("wait", "stay"), tmp_path / "there", RunOptions(workers=4, **there))
    losing.join()
    run_study(staged("wait", "stay"), tmp_path / "here")
    assert outcome(tmp_path / "there") == outcome(tmp_path / "here")
    nodes = [event.node for event in cells_of(tmp_path / "there")]
    assert len(nodes) == 4
    assert not any(lost.node_id.startswith(node.rpartition("/")[2]) for node in nodes)


def test_a_process_that_dies_is_tried_again_and_a_cell_that_fails_is_not(
    remote, staged, stage, tmp_path, capfd, monkeypatch
):
    monkeypatch.setattr("repro.study.executors.ray.RETRIES", 1)
    study = staged("die_once", "die", "fail", folds=1)
    with pytest.raises(StudyError, match="2 of 3 cells failed") as caught:
        run_study(study, tmp_path / "there", RunOptions(**remote))
    assert "the node or the process of die/1 died 2 times (out of memory?)" in str(caught.value)
    assert "fail/1: staged/staged: there is nothing to learn here; take other data" in str(caught.value)
    assert (stage / "deaths").read_text() == "xx"
    assert (stage / "failures").read_text() == "x"
    run_study(staged("die_once", folds=1), tmp_path / "here")
    assert outcome(tmp_path / "there")[0] == outcome(tmp_path / "here")[0]
    assert capfd.readouterr() == ("", "")


def test_what_is_begun_here_is_finished_there(there, study, tmp_path):
    run_study(study, tmp_path / "here")
    cut = tmp_path / "there"
    shutil.copytree(tmp_path / "here", cut)
    lines = (cut / "journal.jsonl").read_bytes().splitlines(keepends=True)
    ends = [n for n, line in enumerate(lines, 1) if b"cell.finished" in line]
    (cut / "journal.jsonl").write_bytes(b"".join(lines[: ends[3]]))
    run_study(study, cut, RunOptions(resume=True, **there))
    assert outcome(cut) == outcome(tmp_path / "here")
    journal = read_journal(cut / "journal.jsonl")
    resumed = journal.events("run.resumed")[0]
    assert (resumed.executor, len(resumed.cells_kept)) == ("ray", 4)
    assert [event.node is None for event in journal.events("cell.finished")] == [True] * 4 + [False] * 6


def test_blocks_of_users_are_measured_as_tasks_of_their_own(there, data):
    """120 users in blocks of 64: the second is sent to a node, and merged with the first, which is measured here."""
    metrics = ["ndcg@10", "rr", "gini@10", "catalogue-coverage@10"]
    study = Study(data, parse_protocol(SAMPLED, "sampled"), ["reference/item-knn"], metrics, seed=11)
    plan = make_plan(study)

    def measured(blocks):
        output = run_cell(plan, plan.cells[0], ExecutionOptions(block_users=64, blocks=blocks, keep_scores=True))
        return output.values, output.impacts, output.tables, output.digests

    here = measured(InThreads(1))
    assert all(measured(OnNodes(most, worth=0.0)) == here for most in (1, 2, 3))
    assert measured(OnNodes(2, worth=1e9)) == here


def test_one_cell_for_many_workers_is_that_of_one(there, data, tmp_path):
    study = Study(data, parse_protocol(SAMPLED, "sampled"), ["reference/item-knn"], ["ndcg@10"], seed=11)
    run_study(study, tmp_path / "here")
    for workers in (1, 3):
        run_study(study, tmp_path / f"on {workers}", RunOptions(workers=workers, block_users=64, **there))
        assert outcome(tmp_path / f"on {workers}") == outcome(tmp_path / "here")


STUDY = """
seed = 7
metrics = ["ndcg@10"]
[data]
name = "synthetic"
users = 40
items = 30
ratings = 400
seed = 1
[protocol]
base = "random-5fold"
split.folds = 2
[[algorithms]]
use = "staged/staged"
parameters = {{ stage = "wait", folder = "{stage}" }}
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_no_task_outlives_its_run_and_what_was_begun_can_be_finished(
    cluster, stage, plugin_folder, tmp_path, monkeypatch, end
):
    stage.mkdir()
    (tmp_path / "study.toml").write_text(STUDY.format(stage=stage))
    monkeypatch.setenv("PYTHONPATH", str(plugin_folder), prepend=os.pathsep)
    command = [sys.executable, "-m", "repro", "run", str(tmp_path / "study.toml"), "--into", str(tmp_path / "run")]
    process = subprocess.Popen(
        [*command, "--executor", "ray", "--address", cluster.address], stderr=subprocess.PIPE, text=True
    )
    nodes = cluster.ids()
    until(lambda: all((stage / node).exists() for node in nodes) or process.poll() is not None)
    pids = [int((stage / node).read_text()) for node in nodes]
    process.send_signal(end)
    _, printed = process.communicate(timeout=SECONDS)
    assert process.returncode == (130 if end == signal.SIGINT else -end)
    assert "Traceback" not in printed
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    (stage / "go").touch()
    study = Study.load(tmp_path / "study.toml")
    run_study(study, tmp_path / "run", RunOptions(resume=True))
    run_study(study, tmp_path / "here")
    assert outcome(tmp_path / "run") == outcome(tmp_path / "here")


def test_a_framework_that_nodes_lack_is_installed_there_in_the_version_that_is_here(
    cluster, there, tiny, tiny_environment, tmp_path
):
    """As Ray's runtime environment or, where it would change packages of the node, as a separate environment."""
    run_study(tiny, tmp_path / "here")
    run_study(tiny, tmp_path / "added", RunOptions(workers=1, **there))
    freeze(tiny_environment, "tiny-framework==2.0", "pluggy==0.1")
    run_study(tiny, tmp_path / "apart", RunOptions(workers=1, **there))
    names = ("here", "added", "apart")
    assert outcome(tmp_path / "added") == outcome(tmp_path / "apart") == outcome(tmp_path / "here")
    notes = [cells_of(tmp_path / name)[0].notes for name in names]
    assert [note["version"] for note in notes] == ["2.0"] * 3
    here, added, remote = (Path(note["prefix"]) for note in notes)
    assert here.is_relative_to(tiny_environment)
    assert added.is_relative_to(cluster.folder) and "runtime_resources" in added.parts
    assert remote.is_relative_to(cluster.environments)


def test_an_environment_that_cannot_be_built_is_a_failed_cell(there, tiny, tiny_environment, tmp_path):
    freeze(tiny_environment, "tiny-framework==9.9")
    with pytest.raises(StudyError, match=r"No matching distribution found for tiny-framework==9\.9"):
        run_study(tiny, tmp_path / "there", RunOptions(workers=1, **there))


def test_another_version_of_ray_is_an_error(remote, study, tmp_path, monkeypatch):
    monkeypatch.setattr(ray, "__version__", "1.13.0")
    with pytest.raises(StudyError, match=r"has other versions of Ray or Python than this machine.*1\.13\.0"):
        run_study(study, tmp_path / "run", RunOptions(**remote))
    assert not (tmp_path / "run").exists()
