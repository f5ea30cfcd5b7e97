"""Runs a command that must not outlive the process that started it: `python process_guard.py COMMAND ...`.

Standard input is a pipe of that process, which writes nothing to it. When the pipe closes, because the process was
interrupted or killed, the command ends with all processes that it started.
"""

import os
import signal
import subprocess
import sys
import threading


def _end_with_pipe() -> None:
    os.read(0, 1)
    if hasattr(os, "killpg"):
        os.killpg(os.getpid(), signal.SIGKILL)
    else:
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(os.getpid())])


def main() -> int:
    """Run the command in this process's group; returns its status."""
    threading.Thread(target=_end_with_pipe, daemon=True).start()
    status = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL).returncode
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    os._exit(main())  # the thread still reads
