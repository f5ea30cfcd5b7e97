"""Where cells run: in this process, or in several on this machine."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Literal

from repro.errors import ReproError, StudyError
from repro.plugin import ParameterValue
from repro.study.cell import CellOutput, run_cell
from repro.study.plan import Cell, Plan
from repro.study.tuning import Tuning, tune_cell

Progress = Callable[[Cell, int, int], None]
Parameters = Mapping[str, ParameterValue]
Work = Literal["tune", "run"]


@dataclass(frozen=True)
class Step:
    """Something that happened to a cell; one that is started has the parameters that tuning chose."""

    kind: Literal["tuning", "tuned", "started", "finished", "failed"]
    cell: Cell
    output: CellOutput | None = None
    error: ReproError | None = None
    tuning: Tuning | None = None


def run_cells(
    plan: Plan,
    cells: Sequence[Cell],
    *,
    workers: int,
    block_users: int,
    limit: float | None = None,
    progress: Progress | None = None,
    chosen: Mapping[str, Parameters] | None = None,
    keep_scores: bool = False,
) -> Iterator[Step]:
    """Run ``cells``, telling when each starts and ends; one that fails does not stop the others.

    A cell whose algorithm has a space is tuned first, but for those whose parameters are ``chosen`` already.
    """
    ready = [_next(cell, chosen or {}) for cell in cells]
    if workers == 1:
        yield from _serial(plan, ready, block_users, limit, progress, keep_scores)
    else:
        yield from _processes(plan, ready, workers, block_users, limit, keep_scores)


def _next(cell: Cell, chosen: Mapping[str, Parameters]) -> tuple[Work, Cell]:
    """What is to be done first for a cell."""
    if cell.id in chosen:
        return "run", cell.with_parameters(chosen[cell.id])
    return ("tune" if cell.entry.space else "run"), cell


def _begin(work: Work, cell: Cell) -> Step:
    return Step("tuning" if work == "tune" else "started", cell)


def _serial(
    plan: Plan,
    ready: Sequence[tuple[Work, Cell]],
    block_users: int,
    limit: float | None,
    progress: Progress | None,
    keep_scores: bool,
) -> Iterator[Step]:
    for work, cell in ready:

        def tell(done: int, total: int, cell: Cell = cell) -> None:
            if progress:
                progress(cell, done, total)

        try:
            if work == "tune":
                yield _begin(work, cell)
                tuning = tune_cell(plan, cell, block_users, tell=tell, limit=limit)
                yield Step("tuned", cell, tuning=tuning)
                cell = cell.with_parameters(tuning.chosen)
            yield _begin("run", cell)
            output = run_cell(plan, cell, block_users, tell=tell, limit=limit, keep_scores=keep_scores)
            yield Step("finished", cell, output=output)
        except ReproError as error:
            yield Step("failed", cell, error=error)


_plan: Plan | None = None


def _start_worker(plan: Plan) -> None:
    global _plan
    _plan = plan
    threading.Thread(target=leave_with_parent, daemon=True).start()


def leave_with_parent() -> None:
    """End this worker when the run is killed: nobody is left to take what it computes."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """Start workers that do not import the caller's script: they would run it again, down to this very line."""
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)}
    vars(main).update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        vars(main).update(hidden)


def _work(
    work: Work,
    position: int,
    parameters: Parameters,
    block_users: int,
    threads: int,
    limit: float | None,
    keep_scores: bool,
) -> CellOutput | Tuning:
    assert _plan is not None
    cell = _plan.cells[position].with_parameters(parameters)
    if work == "tune":
        return tune_cell(_plan, cell, block_users, threads, limit=limit)
    return run_cell(_plan, cell, block_users, threads, limit=limit, keep_scores=keep_scores)


def _processes(
    plan: Plan,
    ready: Sequence[tuple[Work, Cell]],
    workers: int,
    block_users: int,
    limit: float | None,
    keep_scores: bool,
) -> Iterator[Step]:
    """At most ``workers`` cells are under way, so that a cell announced as started has a worker.

    A cell that was tuned is next: what is begun is finished.
    """
    position = {cell.id: number for number, cell in enumerate(plan.cells)}
    waiting = list(reversed(ready))
    running: dict[Future[CellOutput | Tuning], Cell] = {}
    threads = max(1, (os.cpu_count() or 1) // workers)
    with ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_start_worker, initargs=(plan,)
    ) as pool:
        while waiting or running:
            while waiting and len(running) < workers:
                work, cell = waiting.pop()
                yield _begin(work, cell)
                parameters = dict(cell.entry.parameters)
                task = (work, position[cell.id], parameters, block_users, threads, limit, keep_scores)
                with without_main():  # a worker may be started here
                    running[pool.submit(_work, *task)] = cell
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                cell = running.pop(future)
                try:
                    output = future.result()
                    if isinstance(output, Tuning):
                        yield Step("tuned", cell, tuning=output)
                        waiting.append(("run", cell.with_parameters(output.chosen)))
                    else:
                        yield Step("finished", cell, output=output)
                except BrokenProcessPool:
                    raise StudyError(
                        f"a worker process died while running {cell.id} (killed, or out of memory?); "
                        "what was finished is kept: go on with --resume, perhaps with fewer --workers"
                    ) from None
                except ReproError as error:
                    yield Step("failed", cell, error=error)
