"""Draws charts in a separate process: if that fails, only one figure is missing, and not the whole report."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from repro.errors import ReproError
from repro.extras import missing

SCRIPT = str(Path(__file__).with_name("renderer_process.py"))
LIMIT = 600.0  # seconds that a chart may take


class DrawingError(ReproError):
    """A chart that cannot be drawn, and why."""


def refuse_without_library() -> None:
    """Raise an error where the packages that draw charts are not installed."""
    if lacking := missing("report", "a chart"):
        raise DrawingError(lacking)


class Renderer:
    """The process that draws charts. It starts with the first chart, and again if it has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def call(self, name: str, *arguments: Any, **settings: Any) -> bytes:
        """The result of a function of vl_convert, as bytes."""
        refuse_without_library()
        request = json.dumps({"call": name, "arguments": arguments, "settings": settings}).encode() + b"\n"
        with self._lock:
            process = self._running()
            timer = threading.Timer(LIMIT, process.kill)
            timer.start()
            try:
                status, answer = _answer(process, request)
            except BaseException:
                self._end()
                raise
            finally:
                timer.cancel()
        if status != b"ok":
            raise DrawingError(f"the chart cannot be drawn: {answer.decode(errors='replace')[:500]}")
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", SCRIPT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _answer(process: subprocess.Popen[bytes], request: bytes) -> tuple[bytes, bytes]:
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(request)
        process.stdin.flush()
    head = process.stdout.readline().split()
    answer = process.stdout.read(int(head[1])) if len(head) == 2 else b""
    if len(head) != 2 or len(answer) != int(head[1]):
        raise DrawingError(f"the chart cannot be drawn: the process that draws it {_ended(process.wait())}")
    return head[0], answer


def _ended(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name} (out of memory?)"
    return f"was ended by signal {-status}"


renderer = Renderer()
