"""Progress of long computations, in a terminal or in a notebook.

Functions that take long have a parameter ``progress``: true shows bars where people look (in a terminal, on standard
error, or in a notebook) and nothing elsewhere, false shows none, and a function receives the name of each stage, the
steps done and all steps. Code that calls such functions on the way of another one passes on what it got.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from repro.terminal import printable
from repro.types import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

Shown = bool | Progress | None
"""Whether to show progress, or a function that receives it; None shows nothing."""

_FIRST, _NEXT = 0.5, 0.1  # seconds until a notebook shows bars, and between two changes of them


@contextmanager
def progress_reporter(progress: Shown) -> Iterator[Progress]:
    """Gives a function that receives progress, and shows it, passes it on or ignores it, as ``progress`` says."""
    if progress is None or progress is False:
        yield _silent
    elif progress is not True:
        yield progress
    elif in_notebook():
        with NotebookStages() as notebook:
            yield notebook.update
    else:
        with _PassingStages(hidden=not sys.stderr.isatty()) as stages:
            yield stages.update


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _silent(stage: str, done: int, total: int) -> None:
    """Shows nothing."""


class NotebookStages:
    """Shows the stages of a computation below a cell of a notebook, as long as they are not finished."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._stages: dict[str, tuple[int, int]] = {}
        self._clock = clock
        self._display: Any = None
        self._due = clock() + _FIRST

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stages.clear()
        if self._display is not None:
            self._draw()

    def update(self, stage: str, done: int, total: int) -> None:
        """Show how much of a stage is done."""
        if done < total:
            self._stages[stage] = (done, total)
        else:
            self._stages.pop(stage, None)
        if self._clock() >= self._due:
            self._draw()
            self._due = self._clock() + _NEXT

    def _draw(self) -> None:
        from IPython.display import HTML, display

        bars = HTML(
            "".join(
                f"<div><progress value='{done}' max='{total}'></progress> {escape(stage)} {done:,} of {total:,}</div>"
                for stage, (done, total) in self._stages.items()
            )
        )
        if self._display is None:
            self._display = display(bars, display_id=True)
        else:
            self._display.update(bars)


class Stages:
    """Shows the stages of a computation in a terminal, and how much of each is done."""

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


class _PassingStages(Stages):
    """Shows the stages that are not finished."""

    _shows_finished = False


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
