"""What runs on the nodes of a cluster: a cell, or a block of users of one."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from repro.errors import ReproError, StudyError
from repro.study.blocks import Block, BlockMeasurer, InThreads, MeasuredBlock, in_order
from repro.study.cell import run_cell
from repro.study.executors.same_software import require_same
from repro.study.executors.steps import Done, Parameters, Work
from repro.study.means import Means
from repro.study.plan import Plan
from repro.study.tuning import tune_cell

# How often a task is tried again whose node or process died.
RETRIES = 3


def carry_out(
    plan: Plan,
    work: Work,
    position: int,
    parameters: Parameters,
    means: Means,
    share: int,
    software: Mapping[str, str],
) -> Done | ReproError:
    """Tune or run a cell of the plan; what a cell fails with is an answer, which asks for no second try."""
    import ray
    from ray.exceptions import RayError

    node = f"{platform.node()}/{ray.get_runtime_context().get_node_id()[:8]}"
    cell = plan.cells[position].with_parameters(parameters)
    means = replace(means, blocks=InThreads(1) if share == 1 else OnNodes(share))
    try:
        require_same(software, cell.entry.framework, node)
        return Done(tune_cell(plan, cell, means) if work == "tune" else run_cell(plan, cell, means), node)
    except ReproError as error:
        return error
    except RayError as error:
        return StudyError(f"a block of users could not be measured: {error}")


@dataclass(frozen=True)
class OnNodes:
    """Blocks as tasks of their own, for as many nodes or cores as have nothing else to do."""

    most: int

    def __call__(self, measurer: BlockMeasurer, blocks: Iterable[Block], count: int) -> Iterator[MeasuredBlock]:
        import ray

        if count == 1:
            yield from InThreads(1)(measurer, blocks, count)
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
