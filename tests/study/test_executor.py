"""Workers: none outlives its run."""

import subprocess
import sys

import pytest

RUN = """
import multiprocessing, time
from concurrent.futures import ProcessPoolExecutor
from repro.study.executors.local import _start_worker

if __name__ == "__main__":
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_start_worker, initargs=(None, {}))
    pool.submit(abs, 1).result()
    pool.submit(time.sleep, 300)
    print("working", flush=True)
    time.sleep(300)
"""


@pytest.mark.parametrize("end", ["kill", "terminate"])
def test_workers_end_when_their_run_is_killed(tmp_path, end):
    script = tmp_path / "run.py"
    script.write_text(RUN)
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "working\n"
    getattr(process, end)()
    # A worker that lives on holds the pipe open, and this would wait for its five minutes.
    process.communicate(timeout=60)
