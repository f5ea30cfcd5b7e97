"""Tasks of an audit one after the other, or in several processes; one that fails does not stop the others."""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from repro.audit.campaign.tasks import Found, Task
from repro.plugin import plugins
from repro.study.executors.processes import leave_with_parent, starting_workers

DIED = "the process died (killed, or out of memory?)"


@dataclass(frozen=True, eq=False)
class Done:
    """What came of a task: what was found, or the error; and how many seconds it took."""

    task: Task
    found: Found | None = None
    error: str = ""
    seconds: float = 0.0


def run_tasks(tasks: Sequence[Task], workers: int) -> Iterator[Done]:
    """Do all tasks, telling of each when it is done; the number of processes changes the order, and nothing else."""
    if workers == 1:
        yield from map(attempt, tasks)
        return
    with contextlib.ExitStack() as stack:
        lanes = [_Lane(stack) for _ in range(min(workers, len(tasks)))]
        waiting, running = list(tasks), dict[Future[Done], tuple[_Lane, Task]]()
        idle = list(lanes)
        while waiting or running:
            while waiting and idle:
                lane = idle.pop(0)
                task = _next(waiting, lane, lanes)
                waiting.remove(task)
                running[lane.submit(task)] = lane, task
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                lane, task = running.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    yield Done(task, error=DIED)
                    lane.renew()
                idle.append(lane)


def attempt(task: Task) -> Done:
    """Do a task; whatever it raises is told."""
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # frameworks warn of odd cases, and those that they are asked are odd
            found = task.run()
    except Exception as error:
        return Done(task, None, f"{type(error).__name__}: {error}", time.perf_counter() - started)
    return Done(task, found, "", time.perf_counter() - started)


class _Lane:
    """A process that does one task after the other, of one framework as long as there are some: it is loaded once."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.framework = ""
        self._stack = stack
        self.renew()

    def renew(self) -> None:
        """Have another process, which has loaded nothing yet."""
        context = multiprocessing.get_context("spawn")
        self._pool = self._stack.enter_context(ProcessPoolExecutor(1, context, initializer=_start))

    def submit(self, task: Task) -> Future[Done]:
        moves = bool(task.framework) and task.framework != self.framework
        self.framework = task.framework
        with starting_workers():
            return self._pool.submit(_work, task, moves)


def _next(waiting: Sequence[Task], lane: _Lane, lanes: Sequence[_Lane]) -> Task:
    """A task of the framework that a lane has loaded; else of one that no other has, and that has most left to do."""
    left = Counter(task.framework for task in waiting)
    elsewhere = {other.framework for other in lanes if other is not lane}

    def order(task: Task) -> tuple[bool, bool, int]:
        return task.framework != lane.framework, task.framework in elsewhere, -left[task.framework]

    return min(waiting, key=order)


def _start() -> None:
    threading.Thread(target=leave_with_parent, daemon=True).start()


def _work(task: Task, moves: bool) -> Done:
    if moves:
        plugins().workers.close()  # of frameworks that are done
    return attempt(task)
