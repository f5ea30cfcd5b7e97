"""Progress bars, on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repro.progress import Stages
from repro.terminal import printable

if TYPE_CHECKING:
    from repro.study import Cell, Plan, Watcher


class Progress(Stages):
    """Shows how many cells of a run are done, and how much of each running cell; finished stages disappear.

    Where standard error is no terminal, it prints a line for each finished cell.
    """

    _shows_finished = False

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show how much of a stage is done."""
        self.update(stage, done, total)

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
