"""The host's side of isolation: worker processes, and recommenders that run in them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.errors import PluginError
from repro.plugin.api.evaluator import Case, Observed, PipelineFold
from repro.plugin.api.interfaces import ParameterValue
from repro.plugin.api.queries import Queries
from repro.plugin.api.scores import Scores
from repro.plugin.api.training import TrainingData
from repro.plugin.isolation import wire
from repro.plugin.isolation.pipes import Pipes
from repro.system import HAS_PROCESS_GROUPS, end_group

LAST_LINES = 12
_START_SECONDS = 300.0
_LEAVE_SECONDS = 5.0
# One thread for linear algebra: how a BLAS divides its work changes the last bits.
SETTINGS = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
    "BLIS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}


@dataclass(frozen=True)
class Launch:
    """The interpreter and the packages with which the worker of a framework is started.

    name      of the framework
    module    that declares it
    python    the interpreter of its environment
    packages  the folders (or single files) of the Python packages of the core and of the plug-in: the only packages of
              this environment that the worker can import
    """

    name: str
    module: str
    python: Path
    packages: tuple[Path, ...]


class WorkerProcess:
    """A running worker, which answers one request at a time. Errors include the last lines that it printed."""

    def __init__(self, launch: Launch) -> None:
        if not HAS_PROCESS_GROUPS:
            raise PluginError(
                f"{launch.name} runs in an environment of its own, and frameworks can do so on Linux and macOS alone; "
                "on Windows, use the Windows Subsystem for Linux, or a framework that can be installed next to repro"
            )
        self.launch = launch
        self.made = 0
        self._closed = False
        self._path_folder = tempfile.TemporaryDirectory(prefix="repro-worker-")
        for package in launch.packages:
            (Path(self._path_folder.name) / package.name).symlink_to(package)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment |= SETTINGS | {"PYTHONPATH": self._path_folder.name, "PYTHONUNBUFFERED": "1"}
        try:
            self._process = subprocess.Popen(
                # -P: modules in the folder where the run was started are not part of the environment.
                [launch.python, "-P", "-m", "repro.plugin.isolation.worker", launch.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,  # so that the processes that it starts are stopped with it
            )
        except OSError as error:
            self._path_folder.cleanup()
            raise PluginError(f"{launch.name}: cannot start {launch.python}: {error.strerror or error}") from None
        self._pipes = Pipes(self._process)
        self.versions, _ = self.ask("hello", limit=_START_SECONDS)

    @property
    def name(self) -> str:
        return self.launch.name

    @property
    def alive(self) -> bool:
        return not self._closed and self._process.poll() is None

    def ask(
        self, what: str, arrays: Sequence[wire.AnyArray] = (), limit: float | None = None, **header: Any
    ) -> wire.Message:
        """Send a request and wait for its answer, at most ``limit`` seconds."""
        if self._closed:
            raise self._error(f"was stopped before it could be asked to {what}")
        try:
            with self._pipes.until(limit):
                self._pipes.send(wire.encode({"ask": what, **header}, arrays))
                answer, results = wire.decode(self._pipes.read)
        except TimeoutError:
            self.close()
            raise self._error(f"did not answer within {limit:g} seconds ({what}) and was stopped") from None
        except (BrokenPipeError, EOFError):
            raise self._died(what) from None
        except wire.WireError as error:
            self.close()
            raise self._error(
                f"sent a malformed reply to {what}: {error}; its environment may need to be rebuilt"
            ) from None
        except BaseException:  # interrupted: the next reply would be the one to this request
            self.close()
            raise
        if not answer.pop("ok", False):
            if answer.get("known"):
                raise PluginError(str(answer["message"]))
            raise self._error(f"failed in {what}: {answer.get('kind')}: {answer.get('message')}")
        return answer, results

    def close(self) -> None:
        """Stop the worker and whatever it started, at once."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(OSError):
            end_group(self._process.pid)
        self._process.wait()
        self._pipes.close()
        self._path_folder.cleanup()

    def _died(self, what: str) -> PluginError:
        try:
            status = self._process.wait(_LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self.close()
            return self._error(f"closed its pipe during {what}, and was stopped")
        self.close()
        if status >= 0:
            return self._error(f"ended with status {status} during {what}")
        name = signal.Signals(-status).name
        guess = "; out of memory?" if name == "SIGKILL" else ""
        return self._error(f"was killed by signal {-status} ({name}{guess}) during {what}")

    def _error(self, what: str) -> PluginError:
        lines = "\n".join(f"    {line}" for line in self._pipes.last_lines(LAST_LINES))
        return PluginError(f"the worker of {self.name} {what}" + (f"; its last lines:\n{lines}" if lines else ""))


@contextlib.contextmanager
def _reading_reply(worker: WorkerProcess, what: str) -> Iterator[None]:
    """Turn the errors of reading an incomplete reply into a sentence."""
    try:
        yield
    except (LookupError, TypeError, ValueError) as error:
        raise PluginError(
            f"the worker of {worker.name} sent a malformed reply to {what} ({error}); its environment may need to be "
            "rebuilt"
        ) from None


class IsolatedRecommender:
    """A recommender in a worker, which has only the recommender made last."""

    def __init__(
        self, worker: WorkerProcess, algorithm: str, parameters: dict[str, ParameterValue], limit: float | None
    ) -> None:
        self._worker = worker
        self._limit = limit
        self._fold: str | None = None
        self._known: Interactions | None = None
        worker.made += 1
        self._number = worker.made
        worker.ask("import", limit=_START_SECONDS)
        answer, _ = worker.ask("make", algorithm=algorithm, parameters=parameters, limit=limit)
        with _reading_reply(worker, "make"):
            self.predicts = bool(answer["predicts"])

    def on_fold(self, name: str) -> None:
        self._fold = name

    def fit(self, train: TrainingData, *, seed: int) -> None:
        header, arrays = wire.training_to_arrays(TrainingData.of(train))
        self._ask("fit", arrays, seed=seed, fold=self._fold, **header)
        self._known = train

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self._scores("score", queries, items)

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        return self._scores("predict", queries, items)

    @property
    def notes(self) -> Mapping[str, str]:
        answer, _ = self._ask("notes")
        with _reading_reply(self._worker, "notes"):
            return dict(answer["notes"])

    def state(self) -> dict[str, FloatArray]:
        answer, arrays = self._ask("state")
        with _reading_reply(self._worker, "state"):
            return dict(zip(answer["names"], arrays, strict=True))

    def _scores(self, what: str, queries: Queries, items: CodeArray) -> Scores:
        """Scores of queries; their history is sent only where the worker does not have it from ``fit``."""
        header, arrays = wire.queries_to_arrays(queries, items)
        if queries.history.is_known and not queries.history.is_of(self._known):
            rows = TrainingData.of(queries.history.rows)
            history, row_arrays = wire.training_to_arrays(rows)
            self._ask("history", row_arrays, **history)
            self._known = rows
        _, results = self._ask(what, arrays, **header)
        with _reading_reply(self._worker, what):
            return Scores(results[0], results[1] if len(results) > 1 else None)

    def _ask(self, what: str, arrays: Sequence[wire.AnyArray] = (), **header: Any) -> wire.Message:
        if self._number != self._worker.made:
            raise PluginError(f"{self._worker.name}: this recommender was replaced by a later one in the same worker")
        return self._worker.ask(what, arrays, self._limit, **header)


def split_isolated(
    worker: WorkerProcess, splitter: str, rows: Interactions, seed: int, parameters: dict[str, ParameterValue]
) -> list[tuple[wire.AnyArray, wire.AnyArray]]:
    """The folds that a splitter in a worker makes of the rows: positions of training and test rows."""
    header, arrays = wire.rows_to_arrays(rows)
    _, parts = worker.ask("split", arrays, splitter=splitter, seed=seed, parameters=parameters, **header)
    with _reading_reply(worker, "split"):
        return list(zip(parts[::2], parts[1::2], strict=True))


def evaluate_isolated(worker: WorkerProcess, evaluator: str, case: Case, measure: str, k: int | None) -> Observed:
    """The answer of an evaluator in a worker."""
    header, arrays = wire.case_to_arrays(case)
    answer, results = worker.ask("evaluate", arrays, evaluator=evaluator, measure=measure, k=k, case=header)
    with _reading_reply(worker, "evaluate"):
        return wire.arrays_to_observed(answer, results)


def run_isolated(worker: WorkerProcess, pipeline: str, rows: Interactions, seed: int) -> list[PipelineFold]:
    """The folds of a framework's whole evaluation in a worker."""
    header, arrays = wire.rows_to_arrays(rows)
    answer, results = worker.ask("run", arrays, pipeline=pipeline, seed=seed, **header)
    with _reading_reply(worker, "run"):
        return wire.arrays_to_folds(answer, results)


class WorkerPool:
    """One worker for each framework and environment; all are stopped with the pool, at the latest when Python exits."""

    def __init__(self) -> None:
        self._workers: dict[Launch, WorkerProcess] = {}
        self._versions: dict[Launch, dict[str, Any]] = {}
        weakref.finalize(self, _close_all, self._workers)

    def get(self, launch: Launch) -> WorkerProcess:
        """The worker of a framework; started at the first request, and again after it died."""
        worker = self._workers.get(launch)
        if worker is not None and not worker.alive:
            self._workers.pop(launch).close()
            worker = None
        if worker is None:
            worker = self._workers[launch] = WorkerProcess(launch)
        return worker

    def versions(self, launch: Launch) -> dict[str, Any]:
        """The versions of Python, the framework and its packages in an environment; its worker is asked once."""
        if launch not in self._versions:
            self._versions[launch] = self.get(launch).versions
        return self._versions[launch]

    def close(self) -> None:
        """Stop all workers; a later request starts new ones."""
        _close_all(self._workers)


def _close_all(workers: dict[Launch, WorkerProcess]) -> None:
    while workers:
        workers.popitem()[1].close()
