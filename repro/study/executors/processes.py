"""Processes on this machine: none outlives its run, and none runs the caller's script."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
from collections.abc import Iterator
from typing import Any


def leave_with_parent() -> None:
    """End this worker when the run is killed: nobody is left to take what it computes."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """Start workers that do not import the caller's script: they would run it again, down to this very line."""
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)}
    vars(main).update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        vars(main).update(hidden)
