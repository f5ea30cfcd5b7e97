"""How a run is fitted again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repro.study.engine import Watcher

TOLERANCE = 0.01


@dataclass(frozen=True)
class RefitOptions:
    """How a run is fitted again, and how its numbers are compared with those of the original.

    data        where the data of the run is, if it is no longer where the run found it
    algorithms  the labels of those that are fitted again; all of them by default
    tolerance   the share of the original by which a number may be off
    baseline    the algorithm that effect ratios are about; the first one by default
    workers     cells are fitted in that many processes
    time_limit  how many seconds a framework in a process of its own may take to fit, or to score a block
    watcher     receives progress events
    """

    data: object = None
    algorithms: Sequence[str] | None = None
    tolerance: float = TOLERANCE
    baseline: str | None = None
    workers: int = 1
    time_limit: float | None = None
    watcher: Watcher | None = None
