"""Processes on this machine: none outlives its run, and none runs the caller's script."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any


def leave_with_parent() -> None:
    """End this worker when the run is killed: nobody is left to take what it computes."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextlib.contextmanager
def starting_workers() -> Iterator[None]:
    """Within, worker processes are started.

    They do not import the caller's script: they would run it again, down to this very line. A signal that asks to stop
    waits until they are started: one that is interrupted half-way would print a traceback, and nobody would end it.
    Ctrl-C does not reach them: it is for the run, which ends its workers.
    """
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)}
    vars(main).update(dict.fromkeys(hidden))
    try:
        with _signals_wait():
            yield
    finally:
        vars(main).update(hidden)


@contextlib.contextmanager
def _signals_wait() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are not handled here
        return
    late: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    handled = {number: before for number, before in handlers.items() if callable(before)}
    for number in handled:
        signal.signal(number, lambda number, frame: late.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which processes that are started here inherit
    try:
        yield
    finally:
        for number, before in handled.items():
            signal.signal(number, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for late_signal in late:
            signal.raise_signal(late_signal)
