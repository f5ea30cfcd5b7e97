"""The time that a search takes: its progress, an estimate of what is left, and its end when the time is up."""

from __future__ import annotations

import time
from collections.abc import Callable

from repro.study.plan import Cell, Plan
from repro.study.progress import Silent, Watcher, duration
from repro.types import Progress

STAGE = "search"


class SearchStopped(KeyboardInterrupt):
    """The time for the search is up; it ends as if it were interrupted."""


class SearchWatch:
    """Receives the progress of a search, passes it on, and ends the search when its time is up.

    It is a watcher of runs as well: the fits of the search count as its steps.
    """

    def __init__(
        self,
        progress: Progress | None,
        say: Callable[[str], object] | None,
        watcher: Watcher | None,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._progress, self._say, self._watcher = progress, say or (lambda line: None), watcher or Silent()
        self._clock, self._began, self._seconds = clock, clock(), seconds
        self._fits = self._done = 0
        self._fitting = 0.0

    def begin(self, numbers: int, fits: int, seconds: float) -> None:
        """The search begins: for how many numbers, with how many further fits, which take about ``seconds``."""
        self._fits = fits
        further = f"{fits:,} further fit{'' if fits == 1 else 's'}, about {duration(seconds)}" if fits else "no fit"
        limit = "" if self._seconds is None else f"; it ends after {duration(self._seconds)}"
        self._say(f"search for what explains {numbers:,} number{'' if numbers == 1 else 's'}: {further}{limit}")

    def step(self, name: str) -> None:
        """Another step of the search begins."""
        self.check()
        self._say(f"search: {name}")

    def fitted(self, name: str, seconds: float) -> None:
        """Another fit is done."""
        self._done += 1
        self._fitting += seconds
        self._fits = max(self._fits, self._done)
        left = self._fitting / self._done * (self._fits - self._done)
        remaining = f"; about {duration(left)} left" if self._fits > self._done else ""
        self._say(f"search: fit {self._done} of {self._fits}, {name}: {duration(seconds)}{remaining}")
        self.update(STAGE, self._done, self._fits)
        self.check()

    def update(self, stage: str, done: int, total: int) -> None:
        """Pass on the progress of a stage."""
        if self._progress:
            self._progress(stage, done, total)
        self.check()

    @property
    def is_over(self) -> bool:
        """Whether the time for the search is up."""
        return self._seconds is not None and self._clock() - self._began >= self._seconds

    def check(self) -> None:
        """End the search if its time is up."""
        if self.is_over:
            raise SearchStopped

    def planned(self, plan: Plan, remaining: int) -> None:
        self._watcher.planned(plan, remaining)

    def cell_started(self, cell: Cell) -> None:
        self._watcher.cell_started(cell)

    def cell_progress(self, cell: Cell, done: int, total: int) -> None:
        self._watcher.cell_progress(cell, done, total)

    def cell_ended(self, cell: Cell, error: str | None) -> None:
        self._watcher.cell_ended(cell, error)
        self.check()
