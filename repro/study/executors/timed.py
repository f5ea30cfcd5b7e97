"""Cells in processes of their own, each of which is stopped when a cell takes too long."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from repro.errors import ReproError, StudyError
from repro.evaluation.blocks import ExecutionOptions, InThreads
from repro.plugin.isolation.pins import Pins, current_pins, use_pins
from repro.study.executors.processes import leave_with_parent, starting_workers
from repro.study.executors.steps import Output, Parameters, Step, Task, Work, carry_out, work_on
from repro.study.plan import Plan

Request = tuple[Work, int, Parameters, ExecutionOptions]


@dataclass(eq=False)
class _Worker:
    """A process that carries out one task at a time; ``deadline`` is when the current one is stopped."""

    process: BaseProcess
    connection: Connection
    deadline: float = 0.0

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def in_timed_processes(
    plan: Plan, tasks: Sequence[Task], options: ExecutionOptions, workers: int, seconds: float
) -> Iterator[Step]:
    """Carry out all tasks; one that takes longer than ``seconds`` fails, and its process is stopped."""
    stuck = [task.cell.entry.label for task in tasks if (given := task.cell.entry.given) and not given.can_travel]
    if stuck:
        raise StudyError(
            f"cell_seconds needs models that can be sent to a process that can be stopped, and {stuck[0]} cannot be "
            "pickled; run without it"
        )
    position = {cell.id: number for number, cell in enumerate(plan.cells)}
    threads = max(1, (os.cpu_count() or 1) // workers)
    idle: list[_Worker] = []
    everyone: list[_Worker] = []

    def submit(task: Task, share: int) -> _Worker:
        if idle:
            worker = idle.pop()
        else:
            worker = _start(plan)
            everyone.append(worker)
        shared = replace(options, blocks=InThreads(threads * share))
        worker.connection.send((task.work, position[task.cell.id], dict(task.cell.entry.parameters), shared))
        worker.deadline = time.monotonic() + seconds
        return worker

    def first_done(running: list[_Worker]) -> list[_Worker]:
        while True:
            left = min(worker.deadline for worker in running) - time.monotonic()
            ready = wait([worker.connection for worker in running], max(0.0, left))
            done = [worker for worker in running if worker.connection in ready]
            if not done:
                done = [worker for worker in running if worker.deadline <= time.monotonic()]
            if done:
                return done

    def result(worker: _Worker, task: Task) -> tuple[Output, None]:
        try:
            answer = worker.connection.recv() if worker.connection.poll() else None
        except EOFError:
            worker.stop()
            raise StudyError(f"the process of {task.cell.id} died (killed, or out of memory?)") from None
        if answer is None:
            worker.stop()
            raise StudyError(f"it took longer than the time limit of {seconds:g} s for a cell, and was stopped")
        idle.append(worker)
        if isinstance(answer, ReproError):
            raise answer
        if isinstance(answer, BaseException):
            worker.stop()
            raise answer
        return answer, None

    try:
        yield from carry_out(tasks, workers, submit, first_done, result)
    finally:
        for worker in everyone:
            with contextlib.suppress(OSError, ValueError):
                worker.stop()


def _start(plan: Plan) -> _Worker:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, plan, current_pins()), daemon=True)
    with starting_workers():
        process.start()
    there.close()
    ready = here.recv()  # starting does not count
    assert ready == "ready"
    return _Worker(process, here)


def _serve(connection: Connection, plan: Plan, pins: Mapping[str, Pins]) -> None:
    """Answer requests with the output of a task, or with its error."""
    use_pins(pins)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which ends its workers
    threading.Thread(target=leave_with_parent, daemon=True).start()
    connection.send("ready")
    while True:
        try:
            work, position, parameters, options = connection.recv()
        except EOFError:
            return
        try:
            task = Task(work, plan.cells[position].with_parameters(parameters))
            connection.send(work_on(plan, task, options))
        except Exception as error:  # the process that owns the run raises it
            connection.send(error)
