"""Stopping a run: its processes end with it, and the message says how to resume."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any


@contextlib.contextmanager
def stoppable(folder: Path) -> Iterator[None]:
    """Within, Ctrl-C (and SIGTERM, where it is handled) ends the processes that were started since, and says so.

    What they compute is lost with them, and what is in the journal is kept: waiting for them would not keep more.
    """
    before = set(multiprocessing.active_children())

    def end_workers() -> None:
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()

    try:
        with _signals(end_workers):
            yield
    except KeyboardInterrupt as stop:
        end_workers()
        raise type(stop)(f"stopped; what is finished is kept in {folder}: finish it with --resume") from None
    except BaseException:
        end_workers()
        raise


@contextlib.contextmanager
def _signals(first: Callable[[], None]) -> Iterator[None]:
    """Do something ``first`` when a signal comes: whoever handles it may wait for the workers."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are not handled here
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def handle(number: int, frame: FrameType | None) -> Any:
        first()
        before = handlers[signal.Signals(number)]
        return before(number, frame) if callable(before) else None

    for number, before in handlers.items():
        if callable(before):
            signal.signal(number, handle)
    try:
        yield
    finally:
        for number, before in handlers.items():
            if callable(before):
                signal.signal(number, before)
