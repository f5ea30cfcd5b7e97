"""Rows that are computed independently of each other, in threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from repro.compiling import threads

Result = TypeVar("Result")
FEWEST = 512  # fewer rows are not worth a thread
PARTS = 8  # for each thread, because rows take unequal time


def in_threads(compute: Callable[[slice], Result], rows: int, fewest: int = 0) -> list[Result]:
    """The results of ``compute`` for consecutive parts of the rows, in their order; at least ``fewest``, or
    ``FEWEST``, for each thread.

    ``compute`` releases the interpreter, as compiled functions do, and its result for a row depends on this row alone:
    so the number of threads has no effect on the result.
    """
    at_once = min(threads(), rows // (fewest or FEWEST))
    if at_once < 2:
        return [compute(slice(0, rows))]
    size = -(-rows // (at_once * PARTS))
    parts = [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(compute, parts))
