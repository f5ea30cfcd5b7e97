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
from repro.errors import StudyError
from repro.evaluation.blocks import ExecutionOptions, InThreads
from repro.plugin.isolation.pins import Pins, current_pins, use_pins
from repro.study.executors.processes import leave_with_parent, starting_workers
from repro.study.executors.steps import Output, Parameters, Progress, Step, Task, Work, carry_out, work_on
from repro.study.executors.timed import in_timed_processes
from repro.study.plan import Plan


@dataclass(frozen=True)
class LocalExecutor:
    """Processes of this machine; with one worker, or one task, it is this process, on all cores.

    Cells with a time limit (``cell_seconds``) are always in processes of their own, which can be stopped.
    """

    workers: int
    cell_seconds: float | None = None
    name: Literal["local"] = "local"
    versions: Mapping[str, str] = field(default_factory=dict)

    def run(
        self, plan: Plan, tasks: Sequence[Task], options: ExecutionOptions, progress: Progress | None
    ) -> Iterator[Step]:
        """Models that cannot be sent to another process are fitted in this one, before the others."""
        if self.cell_seconds is not None and tasks:
            yield from in_timed_processes(plan, tasks, options, self.workers, self.cell_seconds)
            return
        bound = [task for task in tasks if not _can_travel(task)]
        others = [task for task in tasks if _can_travel(task)]
        if min(self.workers, len(others)) <= 1:
            yield from _in_this_process(plan, tasks, options, progress)
            return
        yield from _in_this_process(plan, bound, options, progress)
        yield from _in_processes(plan, others, options, self.workers)


def _can_travel(task: Task) -> bool:
    given = task.cell.entry.given
    return given is None or given.can_travel


def _in_this_process(
    plan: Plan, tasks: Sequence[Task], options: ExecutionOptions, progress: Progress | None
) -> Iterator[Step]:
    def result(cell: str, task: Task) -> tuple[Output, None]:
        def report(done: int, total: int) -> None:
            if progress:
                progress(task.cell, done, total)

        return work_on(plan, task, options, report), None

    return carry_out(tasks, 1, lambda task, share: task.cell.id, lambda running: running, result)


_plan: Slot[Plan] = Slot()  # of a worker process


def _start_worker(plan: Plan, pins: Mapping[str, Pins]) -> None:
    _plan.set(plan)
    use_pins(pins)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which ends its workers
    threading.Thread(target=leave_with_parent, daemon=True).start()


def _work(work: Work, position: int, parameters: Parameters, options: ExecutionOptions) -> Output:
    plan = _plan.get()
    assert plan is not None
    return work_on(plan, Task(work, plan.cells[position].with_parameters(parameters)), options)


def _in_processes(plan: Plan, tasks: Sequence[Task], options: ExecutionOptions, workers: int) -> Iterator[Step]:
    position = {cell.id: number for number, cell in enumerate(plan.cells)}
    threads = max(1, (os.cpu_count() or 1) // workers)
    unfinished: dict[Future[Output], str] = {}
    with ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_start_worker, initargs=(plan, current_pins())
    ) as pool:

        def submit(task: Task, share: int) -> Future[Output]:
            shared = replace(options, blocks=InThreads(threads * share))
            with starting_workers():  # the pool may start a worker here
                future = pool.submit(_work, task.work, position[task.cell.id], dict(task.cell.entry.parameters), shared)
            unfinished[future] = task.cell.id
            return future

        def first_done(running: list[Future[Output]]) -> set[Future[Output]]:
            return wait(running, return_when=FIRST_COMPLETED).done

        def result(future: Future[Output], task: Task) -> tuple[Output, None]:
            if not isinstance(future.exception(), BrokenProcessPool):
                del unfinished[future]
            return future.result(), None

        try:
            yield from carry_out(tasks, workers, submit, first_done, result)
        except BrokenProcessPool:  # the error does not say which of the running cells it was
            running = [cell for future, cell in unfinished.items() if future.exception()]
            raise StudyError(
                f"a worker process died while running {' or '.join(running)} (killed, or out of memory?); "
                "finished cells are kept: run again with --resume, perhaps with fewer --workers"
            ) from None
