"""What executors have in common: what is to be done for a cell, and what happened to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar
from typing import Protocol as Interface

from repro.errors import ReproError
from repro.evaluation.blocks import ExecutionOptions
from repro.plugin import ParameterValue
from repro.study.cell import CellOutput
from repro.study.plan import Cell, Plan
from repro.study.tuning.loop import Tuning

Progress = Callable[[Cell, int, int], None]
Parameters = Mapping[str, ParameterValue]
Work = Literal["tune", "run"]
Handle = TypeVar("Handle")


@dataclass(frozen=True)
class Task:
    """One thing to do for a cell: tune it, or run it with the parameters that it has."""

    work: Work
    cell: Cell

    @property
    def begun(self) -> Step:
        return Step("tuning" if self.work == "tune" else "started", self.cell)


@dataclass(frozen=True)
class Done:
    """What came of a task, and on which machine of a cluster."""

    output: CellOutput | Tuning
    node: str | None = None


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
    """Where cells run, and how many of them at a time; ``versions`` is its own software, for the journal."""

    @property
    def name(self) -> Literal["local", "ray"]: ...
    @property
    def workers(self) -> int: ...
    @property
    def versions(self) -> Mapping[str, str]: ...

    def run(
        self, plan: Plan, tasks: Sequence[Task], options: ExecutionOptions, progress: Progress | None
    ) -> Iterator[Step]:
        """Do all tasks, telling when each starts and ends; one that fails does not stop the others."""


def tasks_of(cells: Sequence[Cell], chosen: Mapping[str, Parameters]) -> list[Task]:
    """What is to be done first for each cell: one whose algorithm has a space is tuned, unless its parameters are
    ``chosen`` already."""
    return [
        Task("run", cell.with_parameters(chosen[cell.id]))
        if cell.id in chosen
        else Task("tune" if cell.entry.space else "run", cell)
        for cell in cells
    ]


def carried_out(
    tasks: Sequence[Task],
    workers: int,
    submit: Callable[[Task, int], Handle],
    first_done: Callable[[list[Handle]], Iterable[Handle]],
    result: Callable[[Handle, Task], Done],
) -> Iterator[Step]:
    """Do all tasks, at most ``workers`` of them at a time; a cell that was tuned is next: what is begun is finished.

    ``submit(task, share)`` is given how many workers there are for the task: more than one where there are fewer tasks.
    """
    waiting, running = list(reversed(tasks)), dict[Handle, Task]()
    while waiting or running:
        while waiting and len(running) < workers:
            share = max(1, workers // (len(waiting) + len(running)))
            task = waiting.pop()
            yield task.begun
            running[submit(task, share)] = task
        for handle in first_done(list(running)):
            task = running.pop(handle)
            try:
                done = result(handle, task)
                if isinstance(done.output, Tuning):
                    yield Step("tuned", task.cell, tuning=done.output)
                    waiting.append(Task("run", task.cell.with_parameters(done.output.chosen)))
                else:
                    yield Step("finished", task.cell, output=done.output, node=done.node)
            except ReproError as error:
                yield Step("failed", task.cell, error=error)
