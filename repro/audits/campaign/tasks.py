"""The tasks of an audit of many evaluators, run in turn or by several processes; one that fails stops no other."""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace

from repro.audits.black_boxes.black_box import BlackBox, box_of_evaluator
from repro.audits.comparison.agreement import Agreement
from repro.audits.comparison.pairwise import compare_boxes
from repro.audits.examination.examination import infer_policy
from repro.audits.examination.inference import Inference
from repro.audits.pipelines.pipeline_audit import PipelineAudit, audit_pipeline
from repro.audits.policies import RecordedPolicy
from repro.data import load_dataset
from repro.plugin import plugins
from repro.study.executors.processes import leave_with_parent, starting_workers

DIED = "the process died (killed, or out of memory?)"


@dataclass(frozen=True)
class InferMeasure:
    """Infer the policy of a measure; ``name`` is that of its black box, ``framework/evaluator measure``."""

    name: str
    seed: int

    @property
    def framework(self) -> str:
        return self.name.partition("/")[0]

    def run(self) -> Inference:
        return infer_policy(_box(self.name), seed=self.seed)


@dataclass(frozen=True)
class CompareMeasures:
    """Compare the measures that are declared as a metric; they belong to several frameworks."""

    name: str
    measures: tuple[str, ...]
    seed: int
    policies: Mapping[str, RecordedPolicy]
    framework: str = ""

    def run(self) -> Agreement:
        return compare_boxes([_box(name) for name in self.measures], seed=self.seed, policies=self.policies)


@dataclass(frozen=True)
class AuditPipeline:
    """Compare a framework's whole evaluation of a data set with the core, in those ``measures`` of its evaluator."""

    name: str
    data: str
    measures: tuple[str, ...]
    seed: int
    policies: Mapping[str, RecordedPolicy]

    @property
    def framework(self) -> str:
        return self.name.partition("/")[0]

    def run(self) -> PipelineAudit:
        pipeline = plugins().pipelines()[self.name]
        audit = audit_pipeline(
            pipeline,
            load_dataset(self.data),
            lambda measure: self.policies.get(f"{pipeline.evaluator} {measure}"),
            data=self.data,
            seed=self.seed,
        )
        measures = (measure for measure in audit.measures if f"{pipeline.evaluator} {measure.measure}" in self.measures)
        return replace(audit, measures=tuple(measures))


def _box(name: str) -> BlackBox:
    evaluator, _, measure = name.partition(" ")
    return box_of_evaluator(plugins().evaluators()[evaluator], measure)


Task = InferMeasure | CompareMeasures | AuditPipeline
TaskValue = Inference | Agreement | PipelineAudit


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
