"""A framework in a worker: the same scores, bit for bit; and whatever it does, a sentence and no harm to the rest."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from repro import Study
from repro.current import reset
from repro.data import Interactions, synthetic_interactions
from repro.errors import PluginError, StudyError
from repro.plugin import CheckedRecommender, make_recommender, parameters_of, plugins
from repro.plugin.isolation import environment
from repro.plugin.isolation.client import IsolatedRecommender, Launch, WorkerPool, WorkerProcess
from repro.protocol import Protocol
from repro.runs.journal import read_journal

ROOT = Path(__file__).parents[3]
DATA = synthetic_interactions(users=60, items=40, ratings=900, alpha=1.0, seed=5)
USERS, ITEMS = np.arange(3, dtype=np.int32), np.arange(4, dtype=np.int32)


@pytest.fixture(scope="module")
def reference():
    package = Path(sys.modules[plugins().modules["reference"].partition(".")[0]].__file__).parent
    worker = WorkerProcess(
        Launch("reference", "repro_reference.plugin", Path(sys.executable), (ROOT / "repro", package))
    )
    yield worker
    worker.close()


@pytest.mark.parametrize("name", [left.name for left in plugins().framework("reference").algorithms])
def test_the_scores_are_the_same_bits_as_in_this_process(reference, name):
    algorithm = plugins().algorithm(f"reference/{name}")[1]
    parameters = parameters_of(algorithm, {"factors": 5} if "factors" in {p.name for p in algorithm.parameters} else {})
    here = make_recommender(algorithm, parameters, "here")
    there = IsolatedRecommender(reference, name, parameters, limit=None)
    behind = CheckedRecommender(there, "there", predicts=there.predicts)
    rows = DATA.users < 58  # two users and some items without training rows
    rows &= DATA.items < 38
    with threadpool_limits(1):
        for left in (here, behind):
            left.fit(DATA.select(rows), seed=11)
        users, items = np.arange(60, dtype=np.int32), np.arange(40, dtype=np.int32)[::-1].copy()
        same(here.score_users(users, items), behind.score_users(users, items))
        assert here.predicts == behind.predicts
        if here.predicts:
            same(here.predict_pairs(DATA.users, DATA.items), behind.predict_pairs(DATA.users, DATA.items))
        state = behind.state()
    assert list(here.state()) == list(state)
    assert all(array.tobytes() == state[name].tobytes() for name, array in here.state().items())
    assert here.notes() == behind.notes() == {}


STARTED: list[WorkerProcess] = []


def started(launch):
    STARTED.append(WorkerProcess(launch))
    return STARTED[-1]


@pytest.fixture(autouse=True)
def end_workers():
    yield
    while STARTED:
        STARTED.pop().close()


def same(left, other):
    assert left.values.tobytes() == other.values.tobytes()
    assert (left.state is None) == (other.state is None)
    assert left.state is None or left.state.tobytes() == other.state.tobytes()


def made(launch, mood="fine", when="fit", limit=None):
    return CheckedRecommender(
        IsolatedRecommender(started(launch), "moody", {"mood": mood, "when": when}, limit), "moody/moody", False
    )


def fitted(launch, mood="fine", when="fit", limit=None):
    recommender = made(launch, mood, when, limit)
    recommender.fit(DATA, seed=1)
    return recommender


ENDS = {
    "exit": "the worker of moody ended with status 7 during fit; its last lines:\n    going away",
    "abort": "was killed by signal 6 (SIGABRT) during fit",
    "segfault": "was killed by signal 11 (SIGSEGV) during fit",
    "kill": "was killed by signal 9 (SIGKILL; out of memory?) during fit",
}


@pytest.mark.parametrize("mood", ENDS)
def test_a_worker_that_dies_is_told_with_its_last_lines(moody, mood):
    with pytest.raises(PluginError) as caught:
        fitted(moody, mood)
    assert str(caught.value).startswith("moody/moody: the worker of moody ")
    assert ENDS[mood] in str(caught.value)


def test_a_worker_that_hangs_is_stopped(moody):
    recommender = made(moody, "hang", limit=1.0)
    began = time.monotonic()
    with pytest.raises(PluginError, match=r"did not answer within 1 seconds \(fit\) and was stopped; .*\n    thinking"):
        recommender.fit(DATA, seed=1)
    assert time.monotonic() - began < 30
    with pytest.raises(PluginError, match="was stopped before it could be asked to score"):
        recommender.score_users(USERS, ITEMS)


def test_a_worker_that_does_not_read_is_stopped_too(moody):
    worker = started(moody)
    recommender = IsolatedRecommender(worker, "moody", {"mood": "fine", "when": "fit"}, 1.0)
    os.kill(worker._process.pid, signal.SIGSTOP)
    large = synthetic_interactions(users=2000, items=500, ratings=50_000, seed=1)  # more than a pipe holds
    with pytest.raises(PluginError, match=r"did not answer within 1 seconds \(fit\)"):
        recommender.fit(large, seed=1)


def test_an_exception_is_told_with_its_traceback_and_the_worker_goes_on(moody):
    worker = started(moody)
    recommender = IsolatedRecommender(worker, "moody", {"mood": "raise", "when": "fit"}, None)
    with pytest.raises(PluginError) as caught:
        recommender.fit(DATA, seed=1)
    message = str(caught.value)
    assert message.startswith("the worker of moody failed in fit: ValueError: no factors left; its last lines:")
    assert 'raise ValueError("no factors left")' in message
    assert "in behave" in message
    assert len(message.splitlines()) <= 13
    assert worker.alive
    IsolatedRecommender(worker, "moody", {"mood": "fine", "when": "fit"}, None).fit(DATA, seed=1)


def test_an_error_in_words_is_told_as_it_is(moody):
    with pytest.raises(PluginError) as caught:
        fitted(moody, "known")
    assert str(caught.value) == "moody/moody: there are no timestamps; take data that has them"


@pytest.mark.parametrize("when", ["make", "fit", "score"])
def test_leaving_the_process_is_an_error_like_others(moody, when):
    with pytest.raises(PluginError, match=f"failed in {when}: SystemExit: enough"):
        fitted(moody, "leave", when).score_users(USERS, ITEMS)


def test_whatever_the_framework_prints_is_no_answer(moody):
    loud = fitted(moody, "shout").score_users(USERS, ITEMS)
    same(loud, fitted(moody).score_users(USERS, ITEMS))
    with pytest.raises(PluginError) as caught:  # and of a lot that was said, the end is shown
        recommender = fitted(moody, "shout")
        os.kill(recommender._recommender._worker._process.pid, signal.SIGKILL)
        recommender.score_users(USERS, ITEMS)
    assert str(caught.value).endswith("the last line")
    assert len(str(caught.value)) < 40_000


def test_a_worker_that_closes_its_pipes_is_stopped(moody, monkeypatch):
    monkeypatch.setattr("repro.plugin.isolation.client._LEAVE_SECONDS", 0.5)
    with pytest.raises(PluginError, match="closed its pipe during fit, and was stopped"):
        fitted(moody, "close")


def test_what_a_worker_started_ends_with_it(moody):
    with pytest.raises(PluginError, match="ended with status 1") as caught:
        fitted(moody, "spawn")
    child = int(str(caught.value).split()[-1])
    for _ in range(50):
        if not Path(f"/proc/{child}").exists() or "(sleep) Z" in Path(f"/proc/{child}/stat").read_text():
            return
        time.sleep(0.1)
    raise AssertionError("the child is still running")


@pytest.mark.parametrize(
    ("mood", "complaint"), [("states", r"0 \(scored\), 1 \(unscored\)"), ("list", "returned list")]
)
def test_what_comes_from_a_worker_is_checked_as_in_this_process(moody, mood, complaint):
    with pytest.raises(PluginError, match=f"moody/moody.*{complaint}"):
        fitted(moody, mood, "score").score_users(USERS, ITEMS)


def test_a_worker_that_dies_between_requests_is_replaced_by_the_next(moody):
    pool = WorkerPool()
    first = pool.get(moody)
    isolated = IsolatedRecommender(first, "moody", {"mood": "fine", "when": "fit"}, None)
    recommender = CheckedRecommender(isolated, "moody/moody")
    recommender.fit(DATA, seed=1)
    os.kill(first._process.pid, signal.SIGKILL)
    with pytest.raises(PluginError, match=r"was killed by signal 9 .* during score"):
        recommender.score_users(USERS, ITEMS)
    second = pool.get(moody)
    assert second is not first
    assert second is pool.get(moody)
    os.kill(second._process.pid, signal.SIGKILL)
    second._process.wait()
    third = pool.get(moody)
    assert third is not second
    pool.close()
    assert not third.alive


def test_a_worker_keeps_the_recommender_made_last(moody):
    worker = started(moody)
    first = IsolatedRecommender(worker, "moody", {"mood": "fine", "when": "fit"}, None)
    IsolatedRecommender(worker, "moody", {"mood": "fine", "when": "fit"}, None)
    with pytest.raises(PluginError, match="moody: this recommender was replaced by a later one"):
        first.fit(DATA, seed=1)


def test_text_ids_timestamps_and_empty_rows_arrive(moody):
    frame = pd.DataFrame({"user": ["bob", "änn"], "item": ["x y", "😀"], "rating": [2.5, 4], "timestamp": [5, 3]})
    rows = Interactions.from_frame(frame)
    worker = started(moody)
    for train in (rows, rows.select(np.array([], dtype=np.int64)), Interactions.from_frame(frame[["user", "item"]])):
        recommender = CheckedRecommender(
            IsolatedRecommender(worker, "moody", {"mood": "fine", "when": "fit"}, None), "m", False
        )
        recommender.fit(train, seed=2**31 - 1, fold="fold 1")
        notes = recommender.notes()
        assert (notes["fold"], notes["seed"]) == ("fold 1", "2147483647")
        times = None if train.timestamps is None else train.timestamps.tolist()
        assert json.loads(notes["train"]) == [
            *(train.users.tolist(), train.items.tolist(), train.ratings.tolist(), times),
            *(["bob", "änn"], ["x y", "😀"], train.explicit),
        ]
    no_users = np.array([], dtype=np.int32)
    assert recommender.score_users(no_users, ITEMS).values.shape == (0, 4)
    assert recommender.score_users(USERS, no_users).values.shape == (3, 0)


def test_what_a_framework_needs_is_imported_before_it_is_made(moody):
    assert fitted(moody).notes()["imported"] == "True"


def fake(tmp_path, source):
    """A worker that is another program."""
    program = tmp_path / "python"
    program.write_text(f"#!{sys.executable}\n{source}")
    program.chmod(0o755)
    return Launch("old", "nothing", program, (ROOT / "repro",))


def test_a_worker_of_another_version_is_told(tmp_path):
    source = """
import sys
sys.path.insert(0, {root!r})
from repro.plugin.isolation import wire
wire.VERSION, wire.MARK = 9, b"RPW\\x09"
sys.stdout.buffer.write(b"".join(wire.encode({{"ok": True}})))
sys.stdout.flush()
sys.stdin.buffer.read()
"""
    with pytest.raises(
        PluginError,
        match=r"the worker of old sent a malformed reply to hello: version 9 .* speaks version 2; .*rebuilt",
    ):
        WorkerProcess(fake(tmp_path, source.format(root=str(ROOT))))


def test_a_worker_is_told_when_it_is_asked_in_another_version(moody, monkeypatch):
    worker = started(moody)
    monkeypatch.setattr("repro.plugin.isolation.wire.MARK", b"RPW\x09")
    with pytest.raises(PluginError) as caught:
        IsolatedRecommender(worker, "moody", {"mood": "fine", "when": "fit"}, None)
    assert str(caught.value) == (
        "the worker of moody ended with status 1 during import; its last lines:\n"
        "    malformed request: version 9 of the wire format, and this side speaks version 2"
    )


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (
            "print('Welcome to the framework!')\nimport time\ntime.sleep(60)",
            "bytes that are not a message: they start with b'Welc'",
        ),
        (
            "import sys\nsys.exit('no such module')",
            r"ended with status 1 during hello; its last lines:\n    no such module",
        ),
        ("import sys\nsys.stdin.close()", "ended with status 0 during hello"),
    ],
)
def test_a_worker_that_is_none_is_told(tmp_path, source, complaint):
    with pytest.raises(PluginError, match=f"the worker of old .*{complaint}"):
        WorkerProcess(fake(tmp_path, source))


def test_a_worker_that_cannot_be_started_is_told(tmp_path):
    with pytest.raises(PluginError, match=r"old: cannot start .*: No such file or directory"):
        WorkerProcess(Launch("old", "nothing", tmp_path / "python", ()))


def test_the_folder_of_the_caller_is_not_seen_in_the_worker(moody, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "json.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "elsewhere"))
    assert fitted(moody).score_users(USERS, ITEMS).values.shape == (3, 4)


@pytest.fixture
def isolated_study(write_plugin, moody, tmp_path, monkeypatch):
    """A study with the reference here and the moody framework in an environment that is this interpreter's."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("REPRO_ENVIRONMENTS", str(tmp_path / "environments"))
    monkeypatch.setenv("REPRO_PLUGINS", "moody,reference")
    monkeypatch.setenv("REPRO_ISOLATE", "moody")
    reset()
    needs = plugins().framework("moody").environment
    folder = environment.folder_of("moody", needs)
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (folder / "bin" / "python").chmod(0o755)
    (folder / environment.COMPLETE).write_text(json.dumps({"freeze": ["moody==1.0"]}))

    def study(*moods):
        entries = [{"use": "moody/moody", "label": m, "parameters": {"mood": m, "when": w}} for m, w in moods]
        protocol = Protocol.load("random-5fold", split__folds=2)
        return Study(DATA, protocol, ["reference/popularity", *entries], ["ndcg@10"])

    yield study
    plugins().workers.close()
    reset()
    sys.modules.pop("plugin_moody", None)


def test_a_failed_cell_is_in_the_journal_and_the_others_go_on(isolated_study, tmp_path):
    study = isolated_study(("exit", "fit"), ("hang", "score"), ("raise", "score"), ("fine", "fit"))
    with pytest.raises(StudyError, match="6 of 10 cells failed") as caught:
        study.run(tmp_path / "run", time_limit=2.0)
    journal = read_journal(tmp_path / "run" / "journal.jsonl")
    assert [event.cell for event in journal.events("cell.finished")] == [
        *("reference popularity/1", "reference popularity/2", "fine/1", "fine/2"),
    ]
    errors = {event.cell: event.error for event in journal.events("cell.failed")}
    assert errors["exit/1"] == (
        "moody/moody: the worker of moody ended with status 7 during fit; its last lines:\n    going away"
    )
    assert "the worker of moody did not answer within 2 seconds (score) and was stopped" in errors["hang/2"]
    assert "    ValueError: no factors left" in errors["raise/1"]
    assert "--resume tries the failed ones again" in str(caught.value)
    assert {event.where for event in journal.events("cell.started")} == {"here", "isolated"}
    assert (tmp_path / "run" / "environments" / "moody.txt").read_text() == "moody==1.0\n"
    notes = [event.notes for event in journal.events("cell.finished")]
    assert [left.get("fold") for left in notes] == [None, None, "1", "2"]


def test_resuming_tries_a_failed_cell_again(isolated_study, tmp_path, monkeypatch):
    study = isolated_study(("hang", "fit"))
    with pytest.raises(StudyError, match="2 of 4 cells failed"):
        study.run(tmp_path / "run", time_limit=1.0)
    source = (tmp_path / "plugin_moody.py").read_text().replace("time.sleep(1000)", "time.sleep(0)")
    (tmp_path / "plugin_moody.py").write_text(source)
    results = study.run(tmp_path / "run", resume=True)
    assert list(results.table().index) == ["reference popularity", "hang"]
    journal = read_journal(tmp_path / "run" / "journal.jsonl")
    kept = journal.events("run.resumed")[0].cells_kept
    assert kept == ["reference popularity/1", "reference popularity/2"]
    assert [event.cell for event in journal.events("cell.finished")][-2:] == ["hang/1", "hang/2"]


def test_cells_in_several_processes_have_a_worker_each(isolated_study, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # where the processes find the plug-in
    study = isolated_study(("fine", "fit"), ("kill", "score"))
    with pytest.raises(StudyError, match="2 of 6 cells failed"):
        study.run(tmp_path / "several", workers=2)
    with pytest.raises(StudyError, match="2 of 6 cells failed"):
        study.run(tmp_path / "one")
    assert (tmp_path / "several" / "results.csv").read_bytes() == (tmp_path / "one" / "results.csv").read_bytes()
