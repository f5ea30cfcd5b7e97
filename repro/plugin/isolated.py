"""A framework in a process and an environment of its own, behind the same two interfaces."""

from __future__ import annotations

import atexit
import collections
import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from repro.data.interactions import CodeArray, Interactions
from repro.errors import PluginError
from repro.plugin import wire
from repro.plugin.interfaces import ParameterValue, Scores

LAST_LINES = 12
_START_SECONDS = 300.0
# Linear algebra on one thread: how a BLAS shares out its work changes the last bits.
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "BLIS_NUM_THREADS"), "1"
)


@dataclass(frozen=True)
class Launch:
    """How to start the worker of a framework.

    name      of the framework
    module    that declares it
    python    the interpreter of its environment
    packages  the folders of the Python packages of the core and of the plug-in; nothing else of this environment is
              seen there
    """

    name: str
    module: str
    python: Path
    packages: tuple[Path, ...]


class Worker:
    """A running worker, asked one thing at a time. What goes wrong is told with the framework's last words."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self._lines: collections.deque[str] = collections.deque(maxlen=LAST_LINES)
        self._border = tempfile.TemporaryDirectory(prefix="repro-border-")
        for package in launch.packages:
            (Path(self._border.name) / package.name).symlink_to(package)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment |= _ONE_THREAD | {"PYTHONPATH": self._border.name, "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}
        try:
            self._process = subprocess.Popen(
                [launch.python, "-m", "repro.plugin.worker", launch.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
            )
        except OSError as error:
            self._border.cleanup()
            raise PluginError(f"{launch.name}: cannot start {launch.python}: {error.strerror or error}") from None
        assert self._process.stderr is not None
        self._listener = threading.Thread(target=self._listen, args=(self._process.stderr,), daemon=True)
        self._listener.start()
        self.made = 0
        self.hello, _ = self.ask("hello", limit=_START_SECONDS)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(
        self, what: str, arrays: Sequence[wire.AnyArray] = (), limit: float | None = None, **header: Any
    ) -> wire.Message:
        """Send a request and wait for its answer, at most ``limit`` seconds."""
        assert self._process.stdin is not None
        try:
            for piece in wire.encode({"ask": what, **header}, arrays):
                self._process.stdin.write(piece)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._died(what) from None
        try:
            answer, results = wire.decode(_Reader(self._process, limit).read)
        except TimeoutError:
            self.close()
            raise self._error(f"did not answer within {limit:g} seconds ({what}) and was stopped") from None
        except EOFError:
            raise self._died(what) from None
        except wire.WireError as error:
            self.close()
            raise self._error(f"answered {what} with {error}; its environment may need to be rebuilt") from None
        except BaseException:  # interrupted half-way: the next answer would be the wrong one
            self.close()
            raise
        if not answer.pop("ok", False):
            if answer.get("known"):
                raise PluginError(str(answer["message"]))
            raise self._error(f"failed in {what}: {answer.get('kind')}: {answer.get('message')}")
        return answer, results

    def close(self) -> None:
        """Stop the worker, at once."""
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        self._listener.join(timeout=5)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()
        self._border.cleanup()

    def _listen(self, stream: IO[bytes]) -> None:
        """Remember the last lines that the framework printed."""
        with contextlib.suppress(ValueError, OSError):  # closed
            for line in stream:
                self._lines.append(line.decode(errors="replace").rstrip())

    def _died(self, what: str) -> PluginError:
        status = self._process.wait()
        self._listener.join(timeout=5)
        self.close()
        if status >= 0:
            return self._error(f"ended with status {status} during {what}")
        why = "; out of memory?" if -status == signal.SIGKILL else ""
        return self._error(f"was killed by signal {-status} ({signal.Signals(-status).name}{why}) during {what}")

    def _error(self, what: str) -> PluginError:
        said = "\n".join(f"    {line}" for line in self._lines if line)
        return PluginError(f"the worker of {self.launch.name} {what}" + (f"; its last lines:\n{said}" if said else ""))


class _Reader:
    """Reads exactly as many bytes as asked for from a process, until a deadline."""

    def __init__(self, process: subprocess.Popen[bytes], limit: float | None) -> None:
        assert process.stdout is not None
        self._stream = process.stdout.fileno()
        self._deadline = None if limit is None else time.monotonic() + limit

    def read(self, size: int) -> bytes:
        buffer = bytearray(size)
        view, at = memoryview(buffer), 0
        while at < size:
            left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
            if not select.select([self._stream], [], [], left)[0]:
                raise TimeoutError
            got = os.readv(self._stream, [view[at : at + (1 << 20)]])
            if not got:
                raise EOFError
            at += got
        return bytes(buffer)


class IsolatedRecommender:
    """A recommender in a worker. A worker keeps one recommender: the one made last."""

    def __init__(
        self, worker: Worker, algorithm: str, parameters: dict[str, ParameterValue], limit: float | None
    ) -> None:
        self._worker = worker
        self._limit = limit
        worker.made += 1
        self._number = worker.made
        answer, _ = worker.ask("make", algorithm=algorithm, parameters=parameters, limit=limit)
        self.predicts = bool(answer["predicts"])

    def fit(self, train: Interactions, *, seed: int) -> None:
        header, arrays = wire.rows_to_arrays(train)
        self._ask("fit", arrays, seed=seed, **header)

    def score(self, users: CodeArray, items: CodeArray) -> Scores:
        return self._scores("score", users, items)

    def predict(self, users: CodeArray, items: CodeArray) -> Scores:
        return self._scores("predict", users, items)

    def _scores(self, what: str, users: CodeArray, items: CodeArray) -> Scores:
        _, results = self._ask(what, [users.astype("<i4"), items.astype("<i4")])
        return Scores(results[0], results[1] if len(results) > 1 else None)

    def _ask(self, what: str, arrays: Sequence[wire.AnyArray], **header: Any) -> wire.Message:
        if self._number != self._worker.made:
            raise PluginError(f"{self._worker.launch.name}: this recommender was replaced by one made after it")
        return self._worker.ask(what, arrays, self._limit, **header)


_workers: dict[Launch, Worker] = {}


def worker_of(launch: Launch) -> Worker:
    """The worker of this process for a framework; started when first asked for, and again after it died."""
    if launch not in _workers or not _workers[launch].alive:
        _workers[launch] = Worker(launch)
    return _workers[launch]


@atexit.register
def close_workers() -> None:
    """Stop all workers of this process."""
    while _workers:
        _workers.popitem()[1].close()
