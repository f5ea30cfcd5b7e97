"""Executors run the cells of a study: on this machine, or on a Ray cluster. Numbers do not depend on it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Literal, get_args

from repro.errors import StudyError, nearest
from repro.study.executors.local import LocalExecutor
from repro.study.executors.steps import Executor, Step, tasks_of

__all__ = ["EXECUTORS", "Executor", "ExecutorName", "Step", "open_executor", "tasks_of"]

ExecutorName = Literal["local", "ray"]
EXECUTORS: tuple[ExecutorName, ...] = get_args(ExecutorName)


@contextlib.contextmanager
def open_executor(
    name: str, workers: int | None, address: str | None = None, cell_seconds: float | None = None
) -> Iterator[Executor]:
    """The executor of that name, with that many workers: by default one on this machine, or all cores of a cluster.

    Cells that take longer than ``cell_seconds`` are stopped.
    """
    if cell_seconds is not None and not cell_seconds > 0:
        raise StudyError(f"cell_seconds = {cell_seconds!r} must be a number above 0")
    if name not in EXECUTORS:
        raise StudyError(f"there is no executor '{name}'{nearest(name, EXECUTORS)} There are: {', '.join(EXECUTORS)}")
    if name == "ray":
        if cell_seconds is not None:
            raise StudyError('cell_seconds is for executor = "local"; Ray does not stop cells')
        from repro.study.executors.ray import open_cluster

        with open_cluster(address, workers) as cluster:
            yield cluster
        return
    if address is not None:
        raise StudyError(f'address = "{address}" is that of a Ray cluster; it needs executor = "ray"')
    yield LocalExecutor(workers or 1, cell_seconds)
