"""Progress bars, on standard error."""

from __future__ import annotations

import math
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Self

from repro.terminal import printable

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from repro.study import Cell, Plan, Watcher


class Stages:
    """Shows the stages of a command, and how much of each is done."""

    _shows_finished = True

    def __init__(self, *, hidden: bool) -> None:
        self._bar = _bar(hidden)
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        if self._bar.console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar.console.is_terminal:
            self._bar.stop()

    def update(self, stage: str, done: int, total: int) -> None:
        """Show how much of a stage is done."""
        if stage not in self._tasks:
            self._tasks[stage] = self._bar.add_task(printable(stage), total=total)
        self._bar.update(self._tasks[stage], completed=done, total=total)
        if done >= total and not self._shows_finished:
            self._bar.remove_task(self._tasks.pop(stage))

    def print(self, line: str) -> None:
        """Print a line above the bars."""
        self._bar.console.print(printable(line), markup=False, highlight=False, soft_wrap=True)


class Progress(Stages):
    """Shows how many cells of a run are done, and how much of each running cell; finished stages disappear.

    Where standard error is no terminal, it prints a line for each finished cell.
    """

    _shows_finished = False

    def __init__(self, *, hidden: bool) -> None:
        from repro.study.progress import CellLines, Silent

        super().__init__(hidden=hidden)
        self._cells = self._bar.add_task("loading data", total=None)
        in_lines = not hidden and not self._bar.console.is_terminal
        self._lines: Watcher = CellLines(self.print) if in_lines else Silent()

    def begin(self, name: str) -> None:
        """Another run, under this name."""
        self._bar.update(self._cells, description=printable(name), completed=0, total=None)

    def planned(self, plan: Plan, remaining: int) -> None:
        self._done = len(plan.cells) - remaining
        self._shares: dict[str, float] = {}
        self._bar.reset(
            self._cells, description="cells", total=len(plan.cells), completed=self._done, before=self._done
        )
        self._lines.planned(plan, remaining)

    def cell_started(self, cell: Cell) -> None:
        self._tasks[cell.id] = self._bar.add_task(printable(f"  {cell.id}"), total=None)
        self._lines.cell_started(cell)

    def cell_progress(self, cell: Cell, done: int, total: int) -> None:
        self._bar.update(self._tasks[cell.id], completed=done, total=total)
        self._shares[cell.id] = done / max(total, 1)
        self._count()

    def cell_ended(self, cell: Cell, error: str | None) -> None:
        self._bar.remove_task(self._tasks[cell.id])
        self._shares.pop(cell.id, None)
        self._done += 1
        self._count()
        self._lines.cell_ended(cell, error)
        if error and self._bar.console.is_terminal:
            self.print(f"{cell.id} failed: {error}")

    def _count(self) -> None:
        """A running cell counts by its share of users."""
        self._bar.update(self._cells, completed=self._done + sum(self._shares.values()))


def _bar(hidden: bool) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Remaining(TimeRemainingColumn):
        """The time left: of cells, from the mean time of this run's cells; of stages, from the last half minute."""

        def render(self, task: Task) -> Text:
            done = task.completed - task.fields.get("before", math.inf)
            if done <= 0 or task.total is None:
                return super().render(task)
            seconds = (task.elapsed or 0.0) * (task.total - task.completed) / done
            return Text(str(timedelta(seconds=round(seconds))), style="progress.remaining")

    return Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        Remaining(),
        console=Console(stderr=True, quiet=hidden),
        disable=hidden,
        transient=True,
    )
