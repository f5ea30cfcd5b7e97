"""The worker: a process in a framework's own environment that fits, scores, splits and evaluates on request.

Started as ``python -m repro.plugin.isolation.worker MODULE`` where MODULE declares the framework. It reads requests
from standard input and replies on the original standard output; what the framework prints goes to standard error. The
environment has numpy, pandas, pluggy, scipy and the framework, so that nothing else may be imported here.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, BinaryIO

import numpy as np

from repro.errors import PluginError, ReproError
from repro.plugin.api.checks import checked_folds, checked_notes, checked_observed, checked_scores
from repro.plugin.api.evaluator import Evaluator, Pipeline
from repro.plugin.api.interfaces import Algorithm, Framework, RatingPredictor, Recommender, Splitter
from repro.plugin.api.queries import History
from repro.plugin.api.scores import Scores
from repro.plugin.api.state import checked_state
from repro.plugin.isolation import environment, wire

Answer = tuple[dict[str, Any], list[wire.AnyArray]]
# The requests that a worker answers, each by a method of the server.
REQUESTS = (
    "hello",
    "import",
    "make",
    "fit",
    "history",
    "score",
    "predict",
    "notes",
    "state",
    "split",
    "evaluate",
    "run",
)


class Server:
    """Holds the latest recommender and answers requests about it; runs splitters and evaluators too.

    ``declared(hook)`` returns the plug-in's declarations for a hook that returns several.
    """

    def __init__(self, framework: Framework, declared: Callable[[str], Sequence[Any]]) -> None:
        self._declared = declared
        self._framework = framework
        self._algorithms = {algorithm.name: algorithm for algorithm in framework.algorithms}
        self._recommender: Recommender | None = None
        self._uses_history = False
        self._known = History(None)
        self._sizes = (0, 0)
        self._label = framework.name

    def answer(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        if header.get("ask") not in REQUESTS:
            raise PluginError(f"a worker was asked to {header.get('ask')!r:.40}; it can {', '.join(REQUESTS)}")
        handle: Callable[[dict[str, Any], Sequence[wire.AnyArray]], Answer] = getattr(self, f"_{header['ask']}")
        return handle(header, arrays)

    def _hello(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        versions = {"framework": self._framework.version, "packages": dict(self._framework.packages)}
        return {"python": platform.python_version(), **versions}, []

    def _import(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        environment.load(self._framework.environment)
        return {}, []

    def _make(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        algorithm: Algorithm = self._algorithms[header["algorithm"]]
        self._recommender = None  # frees its memory before the next one is made
        self._label = f"{self._framework.name}/{algorithm.name}"
        self._known, self._uses_history = History.withheld(self._label), algorithm.uses_history
        self._recommender = algorithm.make(**header["parameters"])
        return {"predicts": isinstance(self._recommender, RatingPredictor)}, []

    def _fit(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        assert self._recommender is not None
        if header["fold"] is not None and hasattr(self._recommender, "on_fold"):
            self._recommender.on_fold(header["fold"])
        train = wire.arrays_to_training(header, arrays)
        if self._uses_history:
            self._known = History(train)
        self._sizes = (train.n_users, train.n_items)
        self._recommender.fit(train, seed=header["seed"])
        return {}, []

    def _history(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        """Use other rows than those of the last fit as the history of later queries."""
        self._known = History(wire.arrays_to_training(header, arrays))
        return {}, []

    def _score(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        assert self._recommender is not None
        queries, items = wire.arrays_to_queries(header, arrays, self._known)
        scores = self._recommender.score(queries, items)
        return _packed(checked_scores(self._label, "score", scores, (len(queries), len(items))))

    def _predict(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        assert isinstance(self._recommender, RatingPredictor)
        queries, items = wire.arrays_to_queries(header, arrays, self._known)
        scores = self._recommender.predict(queries, items)
        return _packed(checked_scores(self._label, "predict", scores, (len(queries),)))

    def _notes(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        return {"notes": checked_notes(self._label, getattr(self._recommender, "notes", None))}, []

    def _state(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        offered = getattr(self._recommender, "state", None)
        state = checked_state(self._label, offered and offered(), *self._sizes)
        return {"names": list(state)}, [array.astype("<f8", copy=False) for array in state.values()]

    def _split(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        """Training and test rows of each fold, one after the other."""
        splitter: Splitter = self._named("repro_splitters", header["splitter"])
        folds = splitter.split(wire.arrays_to_rows(header, arrays), header["seed"], **header["parameters"])
        return {}, [_positions(splitter.name, part) for train, test in folds for part in (train, test)]

    def _evaluate(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        evaluator: Evaluator = self._named("repro_evaluators", header["evaluator"])
        observed = evaluator.evaluate(wire.arrays_to_case(header["case"], arrays), header["measure"], header["k"])
        return wire.observed_to_arrays(checked_observed(evaluator.name, observed))

    def _run(self, header: dict[str, Any], arrays: Sequence[wire.AnyArray]) -> Answer:
        pipeline: Pipeline = self._named("repro_pipelines", header["pipeline"])
        rows = wire.arrays_to_rows(header, arrays)
        return wire.folds_to_arrays(checked_folds(pipeline.name, pipeline.run(rows, header["seed"]), rows))

    def _named(self, hook: str, name: str) -> Any:
        return next(declaration for declaration in self._declared(hook) if declaration.name == name)


def _packed(scores: Scores) -> Answer:
    return {}, [scores.values.astype("<f8", copy=False)] + ([] if scores.state is None else [scores.state])


def _positions(splitter: str, part: object) -> wire.AnyArray:
    positions = np.asarray(part)
    if positions.ndim != 1 or (len(positions) and positions.dtype.kind not in "iu"):
        raise PluginError(f"{splitter} returned {part!r:.80} as rows; expected their positions")
    return positions.astype("<i8")


def server_of(module: str) -> Server:
    """The server of the framework that a plug-in's module declares; each of its hooks is called once."""
    plugin = importlib.import_module(module)
    framework = plugin.repro_framework()
    assert isinstance(framework, Framework)

    @cache
    def declared(hook: str) -> Sequence[Any]:
        declarations: Sequence[Any] = getattr(plugin, hook, tuple)()
        return declarations

    return Server(framework, declared)


class Responder:
    """Reads requests for the framework of a module, one at a time, and encodes the replies.

    An error is a reply too; the traceback of an unexpected one goes to standard error.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._server: Server | None = None

    def respond(self, read: Callable[[int], bytes]) -> list[bytes]:
        """The reply to the next request, in pieces."""
        header, arrays = wire.decode(read)
        try:
            self._server = self._server or server_of(self._module)
            reply, results = self._server.answer(header, arrays)
            pieces = wire.encode({"ok": True, **reply}, results)
        except (Exception, SystemExit) as error:
            known = isinstance(error, ReproError)
            if not known:
                traceback.print_exc()
            pieces = wire.encode({"ok": False, "known": known, "kind": type(error).__name__, "message": str(error)})
        sys.stderr.flush()
        return pieces


def serve(module: str, requests: BinaryIO, answers: BinaryIO) -> None:
    """Reply until there are no more requests."""

    def read(size: int) -> bytes:
        data = requests.read(size)
        if len(data) < size:
            raise EOFError
        return data

    responder = Responder(module)
    while True:
        try:
            pieces = responder.respond(read)
        except EOFError:
            return
        except wire.WireError as error:
            sys.exit(f"malformed request: {error}")
        for piece in pieces:
            answers.write(piece)
        answers.flush()


def _leave_with_parent(parent: int) -> None:
    """Exit when the process that started this worker has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    if os.getpgrp() == os.getpid():  # also end the processes that the framework started
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def main() -> None:
    """Serve on the standard streams."""
    threading.Thread(target=_leave_with_parent, args=(os.getppid(),), daemon=True).start()
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    with contextlib.suppress(BrokenPipeError):
        serve(sys.argv[1], requests, answers)


if __name__ == "__main__":
    main()
