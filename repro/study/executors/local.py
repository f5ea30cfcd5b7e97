"""Cells in this process, or in several on this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from typing import Literal

from repro.current import Slot
from repro.errors import ReproError, StudyError
from repro.evaluation.blocks import ExecutionOptions, InThreads
from repro.plugin.isolation.pins import Pins, current_pins, use_pins
from repro.study.cell import CellOutput, run_cell
from repro.study.executors.processes import leave_with_parent, starting_workers
from repro.study.executors.steps import Done, Parameters, Progress, Step, Task, Work, carried_out
from repro.study.plan import Cell, Plan
from repro.study.tuning.loop import Tuning, tune_cell


@dataclass(frozen=True)
class LocalExecutor:
    """Processes of this machine; with one worker, or one task, it is this process, on all cores."""

    workers: int
    name: Literal["local"] = "local"
    versions: Mapping[str, str] = field(default_factory=dict)

    def run(
        self, plan: Plan, tasks: Sequence[Task], options: ExecutionOptions, progress: Progress | None
    ) -> Iterator[Step]:
        if min(self.workers, len(tasks)) <= 1:
            yield from _serial(plan, tasks, options, progress)
        else:
            yield from _processes(plan, tasks, options, self.workers)


def _serial(plan: Plan, tasks: Sequence[Task], options: ExecutionOptions, progress: Progress | None) -> Iterator[Step]:
    for task in tasks:
        cell = task.cell

        def tell(done: int, total: int, cell: Cell = cell) -> None:
            if progress:
                progress(cell, done, total)

        try:
            if task.work == "tune":
                yield task.begun
                tuning = tune_cell(plan, cell, options, tell)
                yield Step("tuned", cell, tuning=tuning)
                cell = cell.with_parameters(tuning.chosen)
            yield Step("started", cell)
            yield Step("finished", cell, output=run_cell(plan, cell, options, tell))
        except ReproError as error:
            yield Step("failed", cell, error=error)


_plan: Slot[Plan] = Slot()  # of a worker process


def _start_worker(plan: Plan, pins: Mapping[str, Pins]) -> None:
    _plan.set(plan)
    use_pins(pins)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which ends its workers
    threading.Thread(target=leave_with_parent, daemon=True).start()


def _work(work: Work, position: int, parameters: Parameters, options: ExecutionOptions) -> CellOutput | Tuning:
    plan = _plan.get()
    assert plan is not None
    cell = plan.cells[position].with_parameters(parameters)
    return tune_cell(plan, cell, options) if work == "tune" else run_cell(plan, cell, options)


def _processes(plan: Plan, tasks: Sequence[Task], options: ExecutionOptions, workers: int) -> Iterator[Step]:
    position = {cell.id: number for number, cell in enumerate(plan.cells)}
    threads = max(1, (os.cpu_count() or 1) // workers)
    under_way: dict[Future[CellOutput | Tuning], str] = {}
    with ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_start_worker, initargs=(plan, current_pins())
    ) as pool:

        def submit(task: Task, share: int) -> Future[CellOutput | Tuning]:
            shared = replace(options, blocks=InThreads(threads * share))
            with starting_workers():  # a worker may be started here
                future = pool.submit(_work, task.work, position[task.cell.id], dict(task.cell.entry.parameters), shared)
            under_way[future] = task.cell.id
            return future

        def first_done(running: list[Future[CellOutput | Tuning]]) -> set[Future[CellOutput | Tuning]]:
            return wait(running, return_when=FIRST_COMPLETED).done

        def result(future: Future[CellOutput | Tuning], task: Task) -> Done:
            if not isinstance(future.exception(), BrokenProcessPool):
                del under_way[future]
            return Done(future.result())

        try:
            yield from carried_out(tasks, workers, submit, first_done, result)
        except BrokenProcessPool:  # the error does not say which of the running cells it was
            running = [cell for future, cell in under_way.items() if future.exception()]
            raise StudyError(
                f"a worker process died while running {' or '.join(running)} (killed, or out of memory?); "
                "finished cells are kept: run again with --resume, perhaps with fewer --workers"
            ) from None
