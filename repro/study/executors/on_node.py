"""What runs on the nodes of a cluster: a cell, or a block of users of one."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from repro.errors import PluginError, ReproError, StudyError
from repro.evaluation.blocks import Block, BlockMeasurer, ExecutionOptions, InThreads, MeasuredBlock, in_order
from repro.plugin import plugins
from repro.study.cell import run_cell
from repro.study.executors.requirements import Requirements
from repro.study.executors.same_software import require_same
from repro.study.executors.steps import Done, Parameters, Work
from repro.study.plan import Plan
from repro.study.tuning.loop import tune_cell

# How often a task is tried again whose node or process died.
RETRIES = 3
_LAST_LINES = 12


@dataclass(frozen=True)
class Job:
    """A cell to be tuned or run.

    plan          a reference to the plan, in the object store
    position      of the cell in the plan
    share         how many workers there are for it
    software      the versions that it must be run with
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


def carry_out(job: Job, installed: bool) -> Done | ReproError:
    """Do a job; what a cell fails with is an answer, which asks for no second try.

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
                done: Done | ReproError = ray.get(ray.remote(carry_out).options(**ray_options).remote(job, True))
                return done
            job.requirements.build()
        return Done(tune_cell(plan, cell, options) if job.work == "tune" else run_cell(plan, cell, options), node)
    except ReproError as error:
        return error
    except RuntimeEnvSetupError as error:
        said = "\n".join(f"    {line}" for line in str(error).strip().splitlines()[-_LAST_LINES:])
        return PluginError(f"Ray cannot build the environment of {cell.entry.framework}; its last lines:\n{said}")
    except RayError as error:
        return StudyError(f"a task of {cell.id} died: {str(error).strip().partition(chr(10))[0]}")


@dataclass(frozen=True)
class OnNodes:
    """Blocks as tasks of their own, for as many nodes or cores as have nothing else to do.

    ``worth`` is how many seconds of work must be left, going by the last block: the processes have to be started.
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
