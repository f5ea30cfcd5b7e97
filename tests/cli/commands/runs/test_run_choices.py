"""`repro run` with --drop, --only, --cell-seconds and --install: no algorithm can hold up a run."""

import json
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.cli.exit_codes import INTERRUPTED
from repro.current import reset
from repro.errors import StudyError
from repro.runs.run import Run
from tests.study.ray_plugins import TINY, add_wheel

ENDLESS = '''
"""Algorithms that never end: one waits, the other computes in compiled code, which does not listen to signals."""

import os
import time
from pathlib import Path

from repro.plugin import Algorithm, Framework, impl


class Waiting:
    def fit(self, train, *, seed):
        Path(os.environ.get("STARTED", os.devnull)).touch()
        while True:
            time.sleep(0.01)

    def score(self, queries, items): ...


class Computing(Waiting):
    def fit(self, train, *, seed):
        Path(os.environ.get("STARTED", os.devnull)).touch()
        sum(range(10**15))


@impl
def repro_framework():
    return Framework("endless", "1.0", "", (Algorithm("waiting", "", Waiting), Algorithm("computing", "", Computing)))
'''
STUDY = """
metrics = ["ndcg@10"]
[data]
name = "synthetic"
users = 60
items = 40
ratings = 800
[protocol]
base = "random-80-20"
"""


def study_file(folder, **algorithms):
    """A study with one fold, of algorithms by label."""
    entries = [f'[[algorithms]]\nuse = "{use}"\nlabel = "{label}"\n' for label, use in algorithms.items()]
    path = folder / "study.toml"
    path.write_text(STUDY + "".join(entries))
    return path


def invoke(*arguments, **options):
    return CliRunner().invoke(cli, ["run", *map(str, arguments)], **options)


def finished(*arguments):
    done = invoke(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def labels(printed):
    return [*dict.fromkeys(row["algorithm"] for row in printed["results"])]


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    """The plug-ins `endless` and `tiny`, and their folder; the environment of tiny has yet to be built."""
    (tmp_path / "wheels").mkdir()
    add_wheel(tmp_path / "wheels")
    for name, source in (("endless", ENDLESS), ("tiny", TINY.replace("WHEELS", str(tmp_path / "wheels")))):
        (tmp_path / f"plugin_{name}.py").write_text(source)
        about = tmp_path / f"plugin_{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: plugin-{name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[repro]\n{name} = plugin_{name}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("REPRO_PLUGINS", "reference,endless,tiny")
    monkeypatch.setenv("REPRO_ENVIRONMENTS", str(tmp_path / "environments"))
    reset()
    yield tmp_path
    for name in ("plugin_endless", "plugin_tiny"):
        sys.modules.pop(name, None)
    reset()


def test_only_some_run_and_resume_runs_the_others(tmp_path):
    study = study_file(tmp_path, popular="reference/popularity", mean="reference/item-mean", bias="reference/bias")
    alone = finished(study, "--workers", 1, "--only", "mean", "--only", "bias")
    assert labels(alone) == ["mean", "bias"]
    assert alone["left_out"]["popular"] == "popular was dropped: only mean, bias ran"
    still = finished(study, "--workers", 1, "--only", "bias", "--resume")
    assert labels(still) == ["bias"] and set(still["left_out"]) == {"popular", "mean"}
    whole = finished(study, "--workers", 1, "--resume")
    assert labels(whole) == ["popular", "mean", "bias"] and whole["left_out"] == {}
    kept = {row["algorithm"]: row["value"] for row in alone["results"]}
    assert kept == {row["algorithm"]: row["value"] for row in whole["results"] if row["algorithm"] in kept}


def test_the_table_and_the_report_name_what_was_dropped(tmp_path):
    study = study_file(tmp_path, popular="reference/popularity", mean="reference/item-mean")
    done = invoke(study, "--workers", 1, "--drop", "mean")
    assert done.exit_code == 0, done.output
    sentence = "mean was dropped: the run was continued without it"
    assert sentence in done.output and sentence in (tmp_path / "run" / "report.html").read_text()
    assert [line for line in done.output.splitlines() if line.startswith("popular ")]
    assert not [line for line in done.output.splitlines() if line.startswith("mean  ")]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--drop", "poplar"), "there is no algorithm 'poplar'; did you mean 'popular'?"),
        (("--only", "nothing"), "there is no algorithm 'nothing'. There are: popular, mean"),
        (("--drop", "popular", "--drop", "mean"), "leave at least one"),
        (("--only", "mean", "--drop", "mean"), "leave at least one"),
        (("--cell-seconds", "1", "--executor", "ray"), "Ray does not stop cells"),
    ],
)
def test_choices_that_leave_nothing_to_run_are_refused(options, sentence, tmp_path):
    done = invoke(study_file(tmp_path, popular="reference/popularity", mean="reference/item-mean"), *options)
    assert isinstance(done.exception, StudyError) and sentence in str(done.exception)
    assert not (tmp_path / "run").exists()


def test_no_time_at_all_is_wrong_usage(tmp_path):
    done = invoke(study_file(tmp_path, popular="reference/popularity"), "--cell-seconds", "0")
    assert done.exit_code == 2 and "--cell-seconds" in done.output


def test_cells_that_take_too_long_fail_and_a_resumed_run_can_drop_them(plugins):
    study = study_file(plugins, waits="endless/waiting", popular="reference/popularity", computes="endless/computing")
    done = invoke(study, "--cell-seconds", 8, "--workers", 2)
    assert isinstance(done.exception, StudyError)
    message = str(done.exception)
    assert message.startswith("2 of 3 cells failed:") and "--resume" in message
    assert message.count("longer than the time limit of 8 s for a cell") == 2
    assert {*Run(plugins / "run").failed} == {"waits/1", "computes/1"}
    again = invoke(study, "--resume", "--drop", "waits", "--cell-seconds", 1, "--workers", 1)
    assert isinstance(again.exception, StudyError) and str(again.exception).startswith("1 of 2 cells failed:")
    whole = finished(study, "--resume", "--drop", "waits", "--drop", "computes")
    assert labels(whole) == ["popular"] and set(whole["left_out"]) == {"waits", "computes"}


@pytest.mark.parametrize(("algorithm", "workers"), [("waiting", 1), ("computing", 2)])
def test_ctrl_c_leaves_a_run_that_goes_on_without_the_algorithm_that_never_ends(algorithm, workers, plugins):
    study = study_file(plugins, popular="reference/popularity", forever=f"endless/{algorithm}", mean="reference/bias")
    started = plugins / "started"
    process = subprocess.Popen(
        [sys.executable, "-m", "repro", "run", str(study), "--workers", str(workers)],
        env={**os.environ, "STARTED": str(started)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not started.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, printed_text = process.communicate(timeout=240)
    assert process.returncode == INTERRUPTED, printed_text
    assert "--resume" in printed_text and "Traceback" not in printed_text
    whole = finished(study, "--resume", "--drop", "forever", "--workers", 1)
    assert labels(whole) == ["popular", "mean"]
    assert "continued without it" in whole["left_out"]["forever"]
    fresh = finished(study, "--into", plugins / "fresh", "--drop", "forever", "--workers", 1)
    pd.testing.assert_frame_equal(pd.DataFrame(fresh["results"]), pd.DataFrame(whole["results"]), check_exact=True)


def test_missing_environments_are_built_on_the_way_and_once(plugins):
    study = study_file(plugins, popular="reference/popularity", constant="tiny/constant")
    missing = invoke(study, "--workers", 1)
    assert "repro plugins install tiny" in f"{missing.output}{missing.exception}"
    assert not (plugins / "environments").exists()
    done = invoke(study, "--workers", 1, "--install", "--fresh")
    assert done.exit_code == 0, f"{done.output}{done.exception}"
    assert "tiny: building its environment" in done.stderr and "tiny: ready in" in done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("constant ")]
    assert Run(plugins / "run").journal.events("cell.finished")
    again = finished(study, "--into", plugins / "again", "--install", "--workers", 1)
    assert labels(again) == ["popular", "constant"] and again["left_out"] == {}
    assert len(list((plugins / "environments").glob("tiny-*/complete.json"))) == 1
