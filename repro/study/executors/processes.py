"""Worker processes on this machine: none outlives its run, and none runs the caller's script."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]


@contextlib.contextmanager
def stoppable(folder: Path) -> Iterator[None]:
    """Within, Ctrl-C (and SIGTERM, where it is handled) ends the processes started since, and says how to resume.

    Their unfinished work is lost, and the journal keeps the rest: waiting for them would not keep more.
    """
    before = set(multiprocessing.active_children())

    def end_workers() -> None:
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()

    def handle(number: int, frame: FrameType | None, previous: Handler) -> Any:
        end_workers()  # first, as the previous handler may wait for them
        return previous(number, frame)

    try:
        with _signals_handled(handle):
            yield
    except KeyboardInterrupt as stop:
        end_workers()
        raise type(stop)(f"stopped; what is finished is kept in {folder}: finish it with --resume") from None
    except BaseException:
        end_workers()
        raise


def leave_with_parent() -> None:
    """Exit this worker when the run is killed, because nothing is left to receive its results."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextlib.contextmanager
def starting_workers() -> Iterator[None]:
    """Within, worker processes are started.

    They do not import the caller's script: they would run it again, down to this very line. A signal to stop is
    handled after they have started: one that is interrupted half-way would print a traceback and keep running. Ctrl-C
    does not reach them: it is for the run, which ends its workers.
    """
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)}
    vars(main).update(dict.fromkeys(hidden))
    late: list[int] = []
    try:
        with _signals_handled(lambda number, frame, previous: late.append(number)), _interrupts_blocked():
            yield
    finally:
        vars(main).update(hidden)
        for number in late:
            signal.raise_signal(number)


@contextlib.contextmanager
def _signals_handled(handle: Callable[[int, FrameType | None, Handler], Any]) -> Iterator[None]:
    """Within, ``handle`` is called for SIGINT and SIGTERM with the previous handler, where there is one."""
    handlers: dict[int, Handler] = {}
    if threading.current_thread() is threading.main_thread():  # no other thread can set handlers
        for number in (signal.SIGINT, signal.SIGTERM):
            if callable(previous := signal.getsignal(number)):
                handlers[number] = previous
                signal.signal(number, lambda number, frame: handle(number, frame, handlers[number]))
    try:
        yield
    finally:
        for handled, handler in handlers.items():
            signal.signal(handled, handler)


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Within, SIGINT is blocked in the main thread, and in the processes that it starts."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
