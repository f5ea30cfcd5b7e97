"""A journal that was cut off within a line, and a clock that goes backwards."""

import os
import subprocess
import sys

import pytest

from repro.runs.journal import read_journal
from repro.study import Study, run_study

# A clock that goes back by an hour with every look at it; the clock is not what is tested here.
BACKWARDS = """
import datetime, sys, types
sys.modules["repro.reports"] = types.SimpleNamespace(write_report=lambda results: results.folder / "report.html")
import repro.runs.journal.journal

class Clock(datetime.datetime):
    looks = 0

    @classmethod
    def now(cls, zone=None):
        cls.looks += 1
        return datetime.datetime(2026, 1, 31, tzinfo=zone) - cls.looks * datetime.timedelta(hours=1)

repro.runs.journal.journal.datetime = Clock
from repro.cli import main
main()
"""


@pytest.fixture
def finished(faulty, loaded, tmp_path):
    return run_study(Study.load(faulty.study), tmp_path / "run").folder


@pytest.mark.parametrize(
    "share", [pytest.param(0.2, marks=pytest.mark.slow), pytest.param(0.6, marks=pytest.mark.slow), 0.999]
)
def test_a_journal_cut_off_within_a_line(faulty, finished, resumes, share):
    journal = finished / "journal.jsonl"
    whole = journal.read_bytes()
    cut = int(share * len(whole))
    cut += whole[cut - 1 : cut] == b"\n"  # within a line, not between two
    journal.write_bytes(whole[:cut])
    left = whole[:cut].count(b"\n")
    checked = subprocess.run(
        [sys.executable, "-m", "repro", "verify", str(finished)], capture_output=True, text=True, cwd=finished.parent
    )
    assert checked.returncode != 0
    assert "Traceback" not in checked.stderr
    assert "of a line that was never finished" in checked.stdout
    resumed = resumes(finished)
    assert resumed.lines[left].event.event == "run.resumed"
    assert resumed.lines[left].event.torn_bytes_dropped == cut - whole[:cut].rindex(b"\n") - 1


def test_a_clock_that_goes_backwards(faulty, resumes, tmp_path):
    command = faulty.command(tmp_path / "run")
    command[command.index("-c") + 1] = BACKWARDS
    done = subprocess.run(command, env={**os.environ, **faulty.variables}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = read_journal(tmp_path / "run" / "journal.jsonl").lines
    times = [line.time for line in lines]
    assert times == sorted(times, reverse=True)
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    resumes(tmp_path / "run")
