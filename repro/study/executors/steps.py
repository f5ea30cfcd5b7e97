"""Common parts of executors: the tasks of a cell, the steps that they report, and the loop that carries out tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar
from typing import Protocol as Interface

from repro.errors import ReproError
from repro.evaluation.blocks import ExecutionOptions
from repro.plugin import ParameterValue
from repro.study.cell import CellOutput, CellProgress, run_cell
from repro.study.plan import Cell, Plan
from repro.study.tuning.loop import Tuning, tune_cell

Progress = Callable[[Cell, int, int], None]
Parameters = Mapping[str, ParameterValue]
Work = Literal["tune", "run"]
Output = CellOutput | Tuning
Handle = TypeVar("Handle")


@dataclass(frozen=True)
class Task:
    """Tune a cell, or run it with the parameters that it has."""

    work: Work
    cell: Cell


@dataclass(frozen=True)
class Step:
    """Something that happened to a cell; one that is started has the parameters that tuning chose.

    ``node`` is the machine of a cluster that a finished cell ran on.
    """

    kind: Literal["tuning", "tuned", "started", "finished", "failed"]
    cell: Cell
    output: CellOutput | None = None
    error: ReproError | None = None
    tuning: Tuning | None = None
    node: str | None = None


class Executor(Interface):
    """A place where cells run, and how many of them at a time; ``versions`` is its own software, for the journal."""

    @property
    def name(self) -> Literal["local", "ray"]: ...
    @property
    def workers(self) -> int: ...
    @property
    def versions(self) -> Mapping[str, str]: ...

    def run(
        self, plan: Plan, tasks: Sequence[Task], options: ExecutionOptions, progress: Progress | None
    ) -> Iterator[Step]:
        """Carry out all tasks and report when each starts and ends; one that fails does not stop the others."""


def tasks_of(cells: Sequence[Cell], chosen: Mapping[str, Parameters]) -> list[Task]:
    """The first task of each cell: a cell with a search space is tuned, unless its parameters are ``chosen``."""
    return [
        Task("run", cell.with_parameters(chosen[cell.id]))
        if cell.id in chosen
        else Task("tune" if cell.entry.space else "run", cell)
        for cell in cells
    ]


def work_on(plan: Plan, task: Task, options: ExecutionOptions, progress: CellProgress | None = None) -> Output:
    """Carry out a task in this process."""
    work = tune_cell if task.work == "tune" else run_cell
    return work(plan, task.cell, options, progress)


def carry_out(
    tasks: Sequence[Task],
    workers: int,
    submit: Callable[[Task, int], Handle],
    first_done: Callable[[list[Handle]], Iterable[Handle]],
    result: Callable[[Handle, Task], tuple[Output, str | None]],
) -> Iterator[Step]:
    """Carry out all tasks, at most ``workers`` at a time; a cell runs as soon as it is tuned.

    ``submit(task, share)`` starts a task, which may use ``share`` workers: several where there are fewer tasks.
    ``result`` is the output of a task and the node that it ran on.
    """
    waiting, running = list(reversed(tasks)), dict[Handle, Task]()
    while waiting or running:
        while waiting and len(running) < workers:
            share = max(1, workers // (len(waiting) + len(running)))
            task = waiting.pop()
            yield Step("tuning" if task.work == "tune" else "started", task.cell)
            running[submit(task, share)] = task
        for handle in first_done(list(running)):
            task = running.pop(handle)
            try:
                output, node = result(handle, task)
                if isinstance(output, Tuning):
                    yield Step("tuned", task.cell, tuning=output)
                    waiting.append(Task("run", task.cell.with_parameters(output.chosen)))
                else:
                    yield Step("finished", task.cell, output=output, node=node)
            except ReproError as error:
                yield Step("failed", task.cell, error=error)
