"""Cells as tasks on a Ray cluster.

The plan is put into the cluster's object store once, and tasks read it from there. What they find comes back to this
process, which alone writes the run folder. A task whose node or process died is tried again, and gives the same bits
wherever it runs; what a cell fails with is the same there as here, and is not tried again.
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
from repro.study.executors.on_node import RETRIES, Job, carry_out
from repro.study.executors.requirements import requirements_of
from repro.study.executors.same_software import TO_DO, software_of
from repro.study.executors.steps import Done, Progress, Step, Task, carried_out
from repro.study.plan import Plan

# Settings that say which plug-ins there are and where they run: the same on all nodes.
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
        ray_options = {
            "num_cpus": 1,
            "max_retries": RETRIES,
            "runtime_env": {"env_vars": settings} if settings else None,
        }
        remote = ray.remote(carry_out)
        shared = ray.put(replace(plan, source=plan.interactions))  # cells have no use for the rows before filters
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

        def result(reference: Any, task: Task) -> Done:
            running.discard(reference)
            try:
                answer: Done | ReproError = ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                if not isinstance(error.cause, ray.exceptions.RaySystemError):
                    raise  # not foreseen: a mistake in the code
                raise StudyError(f"a node cannot read what it is sent ({_first_line(error.cause)}); {TO_DO}") from None
            except ray.exceptions.RayError as error:
                raise StudyError(
                    f"the node or the process of {task.cell.id} died {RETRIES + 1} times (out of memory?); the last "
                    f"time: {_first_line(error)}"
                ) from None
            if isinstance(answer, ReproError):
                raise answer
            return answer

        try:
            yield from carried_out(tasks, self.workers, submit, first_done, result)
        finally:
            for reference in running:  # nobody is left to take what they compute
                ray.cancel(reference, force=True)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
