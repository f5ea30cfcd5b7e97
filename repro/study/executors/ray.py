"""Cells as tasks on a Ray cluster.

The plan is put into the cluster's object store once, and tasks read it from there. Only this process writes the run
folder. A task whose node or process died is tried again, and gives the same bits wherever it runs; an error of a cell
would be the same elsewhere, and is not tried again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Literal

from repro.errors import ReproError, StudyError
from repro.evaluation.blocks import ExecutionOptions
from repro.plugin.host.discovery import SELECTED
from repro.plugin.host.placement import ISOLATED
from repro.plugin.isolation.pins import SETTING as PINS
from repro.plugin.isolation.pins import current_pins, pins_as_setting
from repro.study.executors.cluster import connected
from repro.study.executors.on_node import RETRIES, TO_DO, Answer, Job, do_job, first_line, software_of
from repro.study.executors.requirements import requirements_of
from repro.study.executors.steps import Output, Progress, Step, Task, carry_out
from repro.study.plan import Plan

# Environment variables that say which plug-ins there are and where they run; the nodes get the same.
SETTINGS = (SELECTED, ISOLATED)


@contextlib.contextmanager
def open_cluster(address: str | None, workers: int | None) -> Iterator[RayExecutor]:
    """The cluster at an address, with at most that many cells at a time; by default one for each of its cores."""
    with connected(address, workers) as ray:
        cores = int(ray.cluster_resources().get("CPU", 0))
        yield RayExecutor(ray, workers or max(1, cores), {"ray": ray.__version__})


@dataclass(frozen=True)
class RayExecutor:
    """A cluster that this process is connected to."""

    ray: ModuleType
    workers: int
    versions: Mapping[str, str]
    name: Literal["ray"] = "ray"

    def run(
        self, plan: Plan, tasks: Sequence[Task], options: ExecutionOptions, progress: Progress | None
    ) -> Iterator[Step]:
        ray = self.ray
        position = {cell.id: number for number, cell in enumerate(plan.cells)}
        frameworks = sorted({task.cell.entry.framework for task in tasks})
        software = {name: software_of(name) for name in frameworks}
        requirements = requirements_of(frameworks)
        settings = {name: os.environ[name] for name in SETTINGS if name in os.environ}
        if pins := current_pins():
            settings[PINS] = pins_as_setting(pins)
        runtime_env = {"env_vars": settings} if settings else None
        ray_options = {"num_cpus": 1, "max_retries": RETRIES, "runtime_env": runtime_env}
        remote = ray.remote(do_job)
        shared = ray.put(replace(plan, source=plan.interactions))  # cells do not need the rows before filters
        running: set[Any] = set()

        def submit(task: Task, share: int) -> Any:
            entry = task.cell.entry
            job = Job(
                shared,
                task.work,
                position[task.cell.id],
                dict(entry.parameters),
                options,
                share,
                software[entry.framework],
                requirements.get(entry.framework),
            )
            reference = remote.options(name=f"repro {task.work} {task.cell.id}", **ray_options).remote(job, False)
            running.add(reference)
            return reference

        def first_done(references: list[Any]) -> list[Any]:
            done, _ = ray.wait(references, num_returns=1)
            return list(done)

        def result(reference: Any, task: Task) -> tuple[Output, str]:
            running.discard(reference)
            try:
                answer: Answer = ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                if not isinstance(error.cause, ray.exceptions.RaySystemError):
                    raise  # a mistake in the code
                raise StudyError(f"a node cannot read what it is sent ({first_line(error.cause)}); {TO_DO}") from None
            except ray.exceptions.RayError as error:
                raise StudyError(
                    f"the node or the process of {task.cell.id} died {RETRIES + 1} times (out of memory?); the last "
                    f"time: {first_line(error)}"
                ) from None
            if isinstance(answer, ReproError):
                raise answer
            return answer

        try:
            yield from carry_out(tasks, self.workers, submit, first_done, result)
        finally:
            for reference in running:  # nothing is left to receive their results
                ray.cancel(reference, force=True)
