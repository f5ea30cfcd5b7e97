"""Two runs at once, and processes that the kernel kills."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal

import pytest

from repro.errors import StudyError
from repro.runs.folder import RunFolder


def test_a_second_run_into_the_same_folder_is_refused_and_the_first_ends_well(faulty, undisturbed, resumes, tmp_path):
    folder = tmp_path / "run"
    first = faulty.start(folder)
    faulty.until(lambda: (folder / "journal.jsonl").exists() or first.poll() is not None)
    first.send_signal(signal.SIGSTOP)  # wherever it is, it has not ended
    try:
        for option in ("--resume", "--fresh"):
            second = faulty.run(folder, option)
            assert second.returncode == 1
            assert "another run is writing to" in faulty.one_sentence(second.stderr)
    finally:
        first.send_signal(signal.SIGCONT)
    _, stderr = first.communicate()
    assert first.returncode == 0, stderr
    resumes(folder)  # it is complete: nothing is left to do


def test_a_lock_that_was_replaced_with_its_folder_locks_nothing(tmp_path, monkeypatch):
    """Between opening the lock and taking it, another run with --fresh has removed the folder and made it again."""
    folder = RunFolder(tmp_path / "run")
    folder.create()
    take = fcntl.flock

    def late(handle: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", take)
        shutil.rmtree(folder.path)
        folder.create()
        (folder.path / ".lock").touch()
        take(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(StudyError, match="another run is writing to"), folder.locked():
        raise AssertionError("two runs would have written at once")
    with folder.locked():
        pass


def test_a_worker_process_that_is_killed(faulty, resumes, tmp_path):
    folder = tmp_path / "run"
    process, worker = faulty.hold(folder, tmp_path / "held", "--workers", "2")
    os.kill(worker, signal.SIGKILL)
    _, stderr = process.communicate()
    assert process.returncode == 1
    messages = faulty.one_sentence(stderr)
    assert re.search(r"a worker process died while running .*held held/", messages)
    assert "run again with --resume" in messages
    faulty.until(lambda: all(faulty.is_gone(int(path.name)) for path in (tmp_path / "held").iterdir()))
    resumes(folder)


def test_the_worker_of_an_isolated_framework_that_is_killed(faulty, resumes, tmp_path):
    """Its cell fails, and the others go on; the next cell has a worker of its own."""
    folder, held = tmp_path / "run", tmp_path / "held"
    process, worker = faulty.hold(folder, held, REPRO_ISOLATE="held")
    os.kill(worker, signal.SIGKILL)
    faulty.until(lambda: len(list(held.iterdir())) == 2)
    (other,) = [int(path.name) for path in held.iterdir() if int(path.name) != worker]
    os.kill(other, signal.SIGKILL)
    _, stderr = process.communicate()
    assert process.returncode == 1
    assert "2 of 4 cells failed" in stderr
    assert stderr.count("the worker of held was killed by signal 9 (SIGKILL; out of memory?) during fit") >= 2
    assert "--resume tries the failed ones again" in stderr
    assert "Traceback" not in stderr
    kept = resumes(folder).events("run.resumed")[-1].cells_kept
    assert kept == ["reference popularity/1", "reference popularity/2"]


@pytest.mark.slow  # tests/study/test_kill.py kills runs at many more moments
def test_the_run_itself_killed_leaves_no_process_behind(faulty, resumes, tmp_path):
    folder = tmp_path / "run"
    process, _ = faulty.hold(folder, tmp_path / "held", "--workers", "2")
    process.kill()
    process.communicate()
    faulty.until(lambda: all(faulty.is_gone(int(path.name)) for path in (tmp_path / "held").iterdir()))
    resumes(folder)
