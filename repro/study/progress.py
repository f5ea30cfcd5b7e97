"""Progress of a run: who receives its events, and one line for each finished cell where no bar can be drawn."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, runtime_checkable
from typing import Protocol as Interface

from repro.types import Progress

if TYPE_CHECKING:
    from repro.study.plan import Cell, Plan


@runtime_checkable
class Watcher(Interface):
    """Receives progress events: the number of cells that remain, and the start, the progress and the end of each."""

    def planned(self, plan: Plan, remaining: int) -> None: ...
    def cell_started(self, cell: Cell) -> None: ...
    def cell_progress(self, cell: Cell, done: int, total: int) -> None: ...
    def cell_ended(self, cell: Cell, error: str | None) -> None: ...


class Silent:
    """Ignores progress events."""

    def planned(self, plan: Plan, remaining: int) -> None: ...
    def cell_started(self, cell: Cell) -> None: ...
    def cell_progress(self, cell: Cell, done: int, total: int) -> None: ...
    def cell_ended(self, cell: Cell, error: str | None) -> None: ...


class CellStages:
    """Passes on progress events as stages: the cells, and the users of each cell that is running."""

    def __init__(self, report_progress: Progress) -> None:
        self._report_progress = report_progress

    def planned(self, plan: Plan, remaining: int) -> None:
        self._total, self._done = len(plan.cells), len(plan.cells) - remaining
        self._report_progress("cells", self._done, self._total)

    def cell_started(self, cell: Cell) -> None:
        self._report_progress(cell.id, 0, 1)

    def cell_progress(self, cell: Cell, done: int, total: int) -> None:
        self._report_progress(cell.id, done, total)

    def cell_ended(self, cell: Cell, error: str | None) -> None:
        self._done += 1
        self._report_progress(cell.id, 1, 1)
        self._report_progress("cells", self._done, self._total)


def watching(progress: Progress) -> Watcher:
    """The receiver of the events of a run for a function that receives stages, if that does not itself."""
    return progress if isinstance(progress, Watcher) else CellStages(progress)


class CellLines:
    """Says a line for each cell that ends: how many are done, how long it took, and about how long the others take.

    The time left is that of the cells that this run has finished so far, per cell.

    >>> from repro.study.progress import CellLines
    >>> lines = []
    >>> study = repro.Study("ratings.csv", "random-5fold", ["reference/popularity"], ["ndcg@10"])
    >>> options = repro.study.RunOptions(watcher=CellLines(lines.append))
    >>> run = repro.study.run_study(study, "popularity-run", options)
    >>> lines[0], len(lines)
    ('5 cells to run', 6)
    >>> lines[-1].startswith("5/5 reference popularity/5: finished in ")
    True
    """

    def __init__(self, say: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._say, self._clock = say, clock
        self._started: dict[str, float] = {}

    def planned(self, plan: Plan, remaining: int) -> None:
        self._total, self._kept, self._ended = len(plan.cells), len(plan.cells) - remaining, 0
        self._begin = self._clock()
        kept = f" ({self._kept:,} kept from before)" if self._kept else ""
        self._say(f"{remaining:,} cell{'' if remaining == 1 else 's'} to run{kept}")

    def cell_started(self, cell: Cell) -> None:
        self._started[cell.id] = self._clock()

    def cell_progress(self, cell: Cell, done: int, total: int) -> None:
        """A cell has a line at its end only."""

    def cell_ended(self, cell: Cell, error: str | None) -> None:
        now = self._clock()
        self._ended += 1
        done = self._kept + self._ended
        taken = now - self._started.pop(cell.id, now)
        left = (now - self._begin) / self._ended * (self._total - done)
        end = f"failed after {duration(taken)}: {error}" if error else f"finished in {duration(taken)}"
        remaining = f"; about {duration(left)} left" if done < self._total else ""
        self._say(f"{done}/{self._total} {cell.id}: {end}{remaining}")


def duration(seconds: float) -> str:
    """A duration for people: 0.4 s, 12 s, 0:03:20."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return str(timedelta(seconds=round(seconds)))
