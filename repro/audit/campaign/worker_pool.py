"""Tasks of an audit, run in turn or by several worker processes; a task that fails does not stop the others."""

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

from repro.audit.campaign.tasks import Task, TaskValue
from repro.plugin import plugins
from repro.study.executors.processes import leave_with_parent, starting_workers

DIED = "the process died (killed, or out of memory?)"


@dataclass(frozen=True, eq=False)
class TaskResult:
    """The value of a task, or the error that it ended with; and how many seconds it took."""

    task: Task
    value: TaskValue | None = None
    error: str = ""
    seconds: float = 0.0


def run_tasks(tasks: Sequence[Task], n_workers: int) -> Iterator[TaskResult]:
    """Run all tasks, and yield each result when it is there; the number of workers changes nothing but their order."""
    if n_workers == 1:
        yield from map(attempt, tasks)
        return
    with contextlib.ExitStack() as stack:
        workers = [_FrameworkWorker(stack) for _ in range(min(n_workers, len(tasks)))]
        waiting, running = list(tasks), dict[Future[TaskResult], tuple[_FrameworkWorker, Task]]()
        idle = list(workers)
        while waiting or running:
            while waiting and idle:
                worker = idle.pop(0)
                task = _next_task(waiting, worker, workers)
                waiting.remove(task)
                running[worker.submit(task)] = worker, task
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                worker, task = running.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    yield TaskResult(task, error=DIED)
                    worker.start()
                idle.append(worker)


def attempt(task: Task) -> TaskResult:
    """Run a task; an exception becomes the error of the result."""
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # frameworks warn about unusual input, which most questions are
            value = task.run()
    except Exception as error:
        return TaskResult(task, None, f"{type(error).__name__}: {error}", time.perf_counter() - started)
    return TaskResult(task, value, "", time.perf_counter() - started)


class _FrameworkWorker:
    """A process that runs the tasks of one framework in turn, so that it is loaded once, then those of another one."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.framework = ""
        self._stack = stack
        self.start()

    def start(self) -> None:
        """Start a new process."""
        context = multiprocessing.get_context("spawn")
        self._pool = self._stack.enter_context(ProcessPoolExecutor(1, context, initializer=_watch_parent))

    def submit(self, task: Task) -> Future[TaskResult]:
        is_new_framework = bool(task.framework) and task.framework != self.framework
        self.framework = task.framework
        with starting_workers():
            return self._pool.submit(_run_in_worker, task, is_new_framework)


def _next_task(waiting: Sequence[Task], worker: _FrameworkWorker, workers: Sequence[_FrameworkWorker]) -> Task:
    """A task of the framework that the worker has loaded; else of the one with most tasks that no other has loaded."""
    n_waiting = Counter(task.framework for task in waiting)
    of_others = {other.framework for other in workers if other is not worker}

    def order(task: Task) -> tuple[bool, bool, int]:
        return task.framework != worker.framework, task.framework in of_others, -n_waiting[task.framework]

    return min(waiting, key=order)


def _watch_parent() -> None:
    threading.Thread(target=leave_with_parent, daemon=True).start()


def _run_in_worker(task: Task, is_new_framework: bool) -> TaskResult:
    if is_new_framework:
        plugins().workers.close()  # processes of the frameworks before
    return attempt(task)
