"""Stopped or killed work leaves nothing running and prints no traceback: builds of environments, new workers."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = """
import sys
from pathlib import Path
from repro.plugin.isolation import environment
from repro.plugin.api.interfaces import Environment
environment.VENV = ("-c", "import os, sys, shutil; p = sys.argv[1] + '/bin'; os.makedirs(p); "
                          "shutil.copy({pip!r}, p + '/python')")
environment.build("slow", Environment((), (("anything==1.0",),)), print)
"""
# In place of the environment's Python, which would run pip: it starts a process of its own, as pip does to build.
PIP = """#!{python}
import os, subprocess, sys, time
from pathlib import Path
held = Path({held!r})
if len(sys.argv) > 1:
    subprocess.Popen([sys.executable, __file__])
(held / f"{{os.getpid()}}.part").touch()
(held / f"{{os.getpid()}}.part").rename(held / str(os.getpid()))
time.sleep(600)
"""
START = """
import multiprocessing, os, signal, sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from repro.study.executors.processes import starting_workers, stoppable

class Interrupting:
    def __reduce__(self):  # in the middle of what a worker is sent
        os.kill(os.getpid(), signal.{name})
        return bytes, (1 << 22,)

class Stop(KeyboardInterrupt):
    pass

def stop(number, frame):
    raise Stop

signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
try:
    with stoppable(Path("here")), ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn"), initializer=len, initargs=(Interrupting(),)
    ) as pool:
        with starting_workers():
            pool.submit(abs, 1)
        raise AssertionError("the signal was lost")
except Stop as stopped:
    print(stopped)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_environment_that_was_being_built_leaves_no_pip_behind(faulty, tmp_path, number):
    held = tmp_path / "held"
    held.mkdir()
    pip = tmp_path / "pip"
    pip.write_text(PIP.format(python=sys.executable, held=str(held)))
    pip.chmod(0o755)
    variables = {**os.environ, "REPRO_ENVIRONMENTS": str(tmp_path / "environments")}
    command = [sys.executable, "-c", BUILD.format(pip=str(pip))]
    process = subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    faulty.until(lambda: len([path for path in held.iterdir() if path.suffix == ""]) == 2 or process.poll() is not None)
    assert process.poll() is None
    process.send_signal(number)
    process.wait()
    faulty.until(lambda: all(faulty.is_gone(int(path.stem)) for path in held.iterdir()))


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_while_workers_start_prints_no_traceback(tmp_path, name):
    script = tmp_path / "start.py"
    script.write_text(START.format(name=name))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=Path.cwd())
    assert done.stderr == ""
    assert done.stdout == "stopped; what is finished is kept in here: finish it with --resume\n"
