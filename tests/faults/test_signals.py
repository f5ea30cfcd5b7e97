"""Ctrl-C and SIGTERM in the middle of a cell: a clean stop, a sentence, nothing left running, and --resume goes on."""

import os
import signal
import sys

import pytest

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}


@pytest.mark.parametrize(
    ("number", "workers", "place"),
    [
        (signal.SIGINT, "1", "here"),
        (signal.SIGTERM, "1", "isolated"),
        pytest.param(signal.SIGINT, "2", "isolated", marks=pytest.mark.slow),
        (signal.SIGTERM, "2", "here"),
    ],
)
def test_the_run_is_stopped(faulty, resumes, tmp_path, number, workers, place):
    folder = tmp_path / "run"
    variables = {"REPRO_ISOLATE": "held"} if place == "isolated" else {}
    process, _ = faulty.hold(folder, tmp_path / "held", "--workers", workers, **variables)
    process.send_signal(number)
    stdout, stderr = process.communicate()
    assert (process.returncode, stdout) == (STATUS[number], "")
    messages = faulty.one_sentence(stderr)
    assert messages == f"stopped; what is finished is kept in {folder}: finish it with --resume"
    faulty.until(lambda: all(faulty.is_gone(int(path.name)) for path in (tmp_path / "held").iterdir()))
    kept = resumes(folder).events("run.resumed")[-1].cells_kept
    assert set(kept) == {"reference popularity/1", "reference popularity/2"} or workers == "2"


def test_ctrl_c_in_a_terminal_reaches_every_process(faulty, resumes, tmp_path):
    folder = tmp_path / "run"
    process, _ = faulty.hold(folder, tmp_path / "held")
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == 130
    assert "finish it with --resume" in faulty.one_sentence(stderr)
    resumes(folder)


@pytest.mark.parametrize(
    ("number", "workers"), [pytest.param(signal.SIGINT, "1", marks=pytest.mark.slow), (signal.SIGTERM, "2")]
)
def test_a_command_of_another_system_ends_with_the_run(faulty, tmp_path, number, workers):
    """It has a session of its own, which a terminal's Ctrl-C does not reach."""
    held = tmp_path / "held"
    script = tmp_path / "system.py"
    script.write_text(f"import os, time\nopen({str(held)!r} + f'/{{os.getpid()}}', 'w')\ntime.sleep(600)\n")
    study = tmp_path / "study.toml"
    text = faulty.study.read_text().replace('use = "held/held"', 'use = "external/command"')
    study.write_text(f"{text}parameters = {{ command = '{sys.executable} {script}' }}\n")
    other = type(faulty)(study, {**faulty.variables, "REPRO_PLUGINS": "reference,external"})
    process, _ = other.hold(tmp_path / "run", held, "--workers", workers)
    process.send_signal(number)
    _, stderr = process.communicate()
    assert process.returncode == STATUS[number], stderr
    faulty.until(lambda: all(faulty.is_gone(int(path.name)) for path in held.iterdir()))
