"""Functions that Numba compiles, and the machine code of an earlier process in its place.

Importing Numba and making it ready takes half a second, which is longer than most evaluations. A function decorated
with :func:`compiled` is given to Numba only when it is called with types for which no machine code is stored
(:mod:`repro.compiling.stored`). It is the same machine code, and hence gives the same bits.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from threading import RLock
from typing import Any, Literal

from repro.compiling.identity import identity_of
from repro.compiling.stored import Machine, MachineCode, machine, types_of

ErrorModel = Literal["python", "numpy"]

# A process that calls a function this often is at work for long, and Numba passes arguments faster.
_FEW_CALLS = 200

# LLVM and the libraries of Numba are made ready, and code is loaded, by one thread at a time.
_lock = RLock()
_inlined: list[Callable[..., Any]] = []


class Kernel:
    """A function to compile for the types of its arguments.

    error_model  what a division by zero does, as in Numba: it raises ("python"), or gives infinity ("numpy")
    stored       whether it is called from Python, so that its machine code is kept on disk
    """

    def __init__(self, function: Callable[..., Any], error_model: ErrorModel, stored: bool) -> None:
        update_wrapper(self, function)
        self.function = function
        self.error_model = error_model
        self.stored = stored
        self._calls = 0
        self._codes: dict[Hashable, MachineCode | None] = {}

    def __call__(self, *arguments: Any) -> Any:
        if not self.stored or "dispatcher" in self.__dict__:
            return self._compile(arguments)
        self._calls += 1
        types = types_of(arguments) if self._calls <= _FEW_CALLS else None
        if types is None:
            return self._compile(arguments)
        if types not in self._codes:
            with _lock:
                if types not in self._codes:
                    self._codes[types] = None if self._machine is None else self._machine.load(self, types)
        code = self._codes[types]
        if code is None:
            return self._compile(arguments)
        completed, result = code.call(arguments)
        return result if completed else self._compile(arguments)  # which raises the error with its words

    def _compile(self, arguments: tuple[Any, ...]) -> Any:
        """The result of the function of Numba; machine code that is new is stored."""
        dispatcher = self.dispatcher
        known = len(dispatcher.overloads)
        result = dispatcher(*arguments)
        if self.stored and len(dispatcher.overloads) > known:
            with _lock:
                if self._machine is not None:
                    self._machine.store(self, arguments)
        return result

    @cached_property
    def identity(self) -> str | None:
        """A digest of all that determines the code of this function; None where it uses values that have none."""
        try:
            return identity_of(self)
        except ValueError:
            return None

    @property
    def _machine(self) -> Machine | None:
        return machine()

    @cached_property
    def dispatcher(self) -> Any:
        """The function of Numba."""
        with _lock:
            from numba import njit

        _prepare_numba()
        dispatcher: Any = njit(nogil=True, error_model=self.error_model)(self.function)
        if self.stored and self.identity is not None:
            from repro.compiling.numba_files import ExactCache

            with suppress(RuntimeError):  # Numba knows no folder in which it may write
                dispatcher._cache = ExactCache(self.function, self.identity)
        return dispatcher

    @property
    def _numba_type_(self) -> Any:
        """The type by which Numba compiles calls of this function in others."""
        return self.dispatcher._numba_type_

    def __reduce__(self) -> str:
        return self.function.__qualname__  # the name under which its module has it


def compiled(error_model: ErrorModel = "python", stored: bool = True) -> Callable[[Callable[..., Any]], Kernel]:
    """A decorator for functions to compile; without ``stored``, for those that only compiled functions call."""

    def decorate(function: Callable[..., Any]) -> Kernel:
        return Kernel(function, error_model, stored)

    return decorate


def inlined(*functions: Callable[..., Any]) -> None:
    """Let compiled functions call these, which are functions of Python elsewhere."""
    _inlined.extend(functions)


@cache
def threads() -> int:
    """The number of threads of compiled loops: ``NUMBA_NUM_THREADS``, or the cores that this process may use."""
    if stated := os.environ.get("NUMBA_NUM_THREADS"):
        return int(stated)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _announce_compilation() -> None:
    """Say once in a process that functions of this package are being compiled."""
    from numba.core import event

    class Announcer(event.Listener):
        announced = False

        def on_start(self, event: Any) -> None:
            module = str(event.data["dispatcher"].py_func.__module__)
            if not self.announced and module.startswith("repro."):
                self.announced = True
                print("repro compiles its loops for this machine: once, about 20 seconds", file=sys.stderr, flush=True)

        def on_end(self, event: Any) -> None:
            """Nothing is said at the end."""

    event.register("numba:compile", Announcer())


def _prepare_numba() -> None:
    from numba.extending import register_jitable

    _announce_compilation()
    with _lock:
        while _inlined:
            register_jitable(_inlined.pop())
