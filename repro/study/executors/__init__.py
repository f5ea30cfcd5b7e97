"""Where the cells of a study run: on this machine, or on a Ray cluster. Numbers do not depend on it."""

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
def open_executor(name: str, workers: int | None, address: str | None = None) -> Iterator[Executor]:
    """The executor of that name, with that many workers: by default one on this machine, or all cores of a cluster."""
    if name not in EXECUTORS:
        raise StudyError(f"there is no executor '{name}'{nearest(name, EXECUTORS)} There are: {', '.join(EXECUTORS)}")
    if name == "ray":
        from repro.study.executors.ray import open_cluster

        with open_cluster(address, workers) as cluster:
            yield cluster
        return
    if address is not None:
        raise StudyError(f'address = "{address}" is that of a Ray cluster; it needs executor = "ray"')
    yield LocalExecutor(workers or 1)
