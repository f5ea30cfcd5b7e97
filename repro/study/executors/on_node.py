"""Work on the nodes of a cluster: a cell, or a block of users of one; with the same software as the run."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from repro.errors import PluginError, ReproError, StudyError
from repro.evaluation.blocks import Block, BlockMeasurer, ExecutionOptions, InThreads, MeasuredBlock, in_order
from repro.plugin import plugins
from repro.study.environment import software
from repro.study.executors.requirements import Requirements
from repro.study.executors.steps import Output, Parameters, Task, Work, work_on
from repro.study.plan import Plan

# How often Ray repeats a task after its node or process died.
RETRIES = 3
TO_DO = "install on every node what is installed where the run is started"
_LAST_LINES = 12
_PACKAGES = ("data", "protocol", "split", "evaluation", "plugin", "study")

Answer = tuple[Output, str] | ReproError


@dataclass(frozen=True)
class Job:
    """A cell to tune or run.

    plan          a reference to the plan, in the object store
    position      of the cell in the plan
    share         how many workers it may use
    software      the versions that it must run with
    requirements  of its framework, where that has an environment of its own
    """

    plan: Any
    work: Work
    position: int
    parameters: Parameters
    options: ExecutionOptions
    share: int
    software: Mapping[str, str]
    requirements: Requirements | None


def do_job(job: Job, installed: bool) -> Answer:
    """The output of a job and the node that it ran on; an error of a cell is returned, so that Ray does not retry it.

    ``installed`` is whether this process is in a runtime environment with the requirements of the framework.
    """
    import ray
    from ray.exceptions import RayError, RuntimeEnvSetupError

    node = f"{platform.node()}/{ray.get_runtime_context().get_node_id()[:8]}"
    plan: Plan = ray.get(job.plan)
    cell = plan.cells[job.position].with_parameters(job.parameters)
    options = replace(job.options, blocks=InThreads(1) if job.share == 1 else OnNodes(job.share))
    try:
        require_same(job.software, cell.entry.framework, node)
        if job.requirements is not None and plugins().location(cell.entry.framework) == "missing":
            if not installed and (runtime_env := job.requirements.runtime_env()) is not None:
                ray_options = {"num_cpus": 1, "max_retries": RETRIES, "runtime_env": runtime_env}
                answer: Answer = ray.get(ray.remote(do_job).options(**ray_options).remote(job, True))
                return answer
            job.requirements.build()
        return work_on(plan, Task(job.work, cell), options), node
    except ReproError as error:
        return error
    except RuntimeEnvSetupError as error:
        lines = "\n".join(f"    {line}" for line in str(error).strip().splitlines()[-_LAST_LINES:])
        return PluginError(f"Ray cannot build the environment of {cell.entry.framework}; its last lines:\n{lines}")
    except RayError as error:
        return StudyError(f"a task of {cell.id} died: {first_line(error)}")


@dataclass(frozen=True)
class OnNodes:
    """Blocks of users as tasks of their own, at most ``most`` at a time, on idle nodes or cores.

    ``worth`` is how many seconds of work must be left, judging by the last block: processes take time to start.
    """

    most: int
    worth: float = 10.0

    def __call__(self, measurer: BlockMeasurer, blocks: Iterable[Block], count: int) -> Iterator[MeasuredBlock]:
        import ray

        blocks = iter(blocks)
        for done, block in enumerate(blocks, 1):
            measured = measurer.measure(block, threads=1)
            yield measured
            if done < count and measured.seconds * (count - done) >= self.worth:
                break
        else:
            return
        shared = ray.put(measurer)
        remote = ray.remote(_measure).options(num_cpus=1, max_retries=RETRIES)

        def result(reference: Any) -> MeasuredBlock:
            measured = ray.get(reference)
            if isinstance(measured, ReproError):
                raise measured
            return measured

        yield from in_order(blocks, lambda block: remote.remote(shared, block), result, self.most)


def _measure(measurer: BlockMeasurer, block: Block) -> MeasuredBlock | ReproError:
    try:
        return measurer.measure(block, threads=1)
    except ReproError as error:
        return error


def first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


def software_of(framework: str) -> dict[str, str]:
    """The versions that a cell of a framework runs with here: of the core, and of the framework if it is installed."""
    installed = [framework] if plugins().location(framework) != "missing" else []
    return {**software(installed), "the source of repro": _source()[:12]}


def require_same(expected: Mapping[str, str], framework: str, node: str) -> None:
    """Refuse to compute here with other versions than the ``expected`` ones: the same bits need the same software."""
    try:
        here = software_of(framework)
    except PluginError as error:
        raise StudyError(f"node {node} lacks a plug-in: {error}; {TO_DO}") from None
    differences = [
        f"{name} {here[name]} and not {expected[name]}" for name in here if here[name] != expected.get(name, here[name])
    ]
    if differences:
        raise StudyError(f"node {node} has {', '.join(differences)}; {TO_DO}")


@cache
def _source() -> str:
    """SHA-256 of the modules between data and numbers, because a change of the code need not change its version."""
    digest, root = hashlib.sha256(), Path(__file__).parents[2]
    for path in sorted(path for package in _PACKAGES for path in (root / package).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
