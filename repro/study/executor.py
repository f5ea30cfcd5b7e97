"""Where cells run: in this process, or in several on this machine."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Literal

from repro.errors import ReproError, StudyError
from repro.study.cell import CellOutput, run_cell
from repro.study.plan import Cell, Plan

Progress = Callable[[Cell, int, int], None]


@dataclass(frozen=True)
class Step:
    """Something that happened to a cell."""

    kind: Literal["started", "finished", "failed"]
    cell: Cell
    output: CellOutput | None = None
    error: ReproError | None = None


def run_cells(
    plan: Plan,
    cells: Sequence[Cell],
    *,
    workers: int,
    block_users: int,
    limit: float | None = None,
    progress: Progress | None = None,
) -> Iterator[Step]:
    """Run ``cells``, telling when each starts and ends; one that fails does not stop the others."""
    if workers == 1:
        yield from _serial(plan, cells, block_users, limit, progress)
    else:
        yield from _processes(plan, cells, workers, block_users, limit)


def _serial(
    plan: Plan, cells: Sequence[Cell], block_users: int, limit: float | None, progress: Progress | None
) -> Iterator[Step]:
    for cell in cells:
        yield Step("started", cell)

        def tell(done: int, total: int, cell: Cell = cell) -> None:
            if progress:
                progress(cell, done, total)

        try:
            yield Step("finished", cell, output=run_cell(plan, cell, block_users, tell=tell, limit=limit))
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


def _work(position: int, block_users: int, threads: int, limit: float | None) -> CellOutput:
    assert _plan is not None
    return run_cell(_plan, _plan.cells[position], block_users, threads, limit=limit)


def _processes(
    plan: Plan, cells: Sequence[Cell], workers: int, block_users: int, limit: float | None
) -> Iterator[Step]:
    """At most ``workers`` cells are under way, so that a cell announced as started has a worker."""
    position = {cell.id: number for number, cell in enumerate(plan.cells)}
    waiting = list(reversed(cells))
    running: dict[Future[CellOutput], Cell] = {}
    threads = max(1, (os.cpu_count() or 1) // workers)
    with ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_start_worker, initargs=(plan,)
    ) as pool:
        while waiting or running:
            while waiting and len(running) < workers:
                cell = waiting.pop()
                yield Step("started", cell)
                with without_main():  # a worker may be started here
                    running[pool.submit(_work, position[cell.id], block_users, threads, limit)] = cell
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                cell = running.pop(future)
                try:
                    yield Step("finished", cell, output=future.result())
                except BrokenProcessPool:
                    raise StudyError(
                        f"a worker process died while running {cell.id} (killed, or out of memory?); "
                        "what was finished is kept: go on with --resume, perhaps with fewer --workers"
                    ) from None
                except ReproError as error:
                    yield Step("failed", cell, error=error)
