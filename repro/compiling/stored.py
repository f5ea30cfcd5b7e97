"""Machine code of compiled functions on disk, and how a process without Numba calls it.

Numba keeps compiled functions on disk, but loading them needs Numba. Of each function that is called from Python, the
same object code is therefore stored a second time, beside Numba's files, with the layout of arguments and results. The
name of its file has digests of all that it depends on: the sources, the processor, the versions of Python, Numba and
LLVM, and the types of the arguments. A file of another version is therefore not found, and Numba compiles.

There is no machine code (:func:`machine` is None) on systems where it was not tried, and where a setting of Numba's own
might change it. ``REPRO_MACHINE_CODE=off`` turns it off as well.
"""

from __future__ import annotations

import ctypes
import hashlib
import inspect
import json
import os
import platform
import sys
from collections.abc import Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from repro.compiling import layout, objects

if TYPE_CHECKING:
    from repro.compiling.kernel import Kernel

_FORMAT = "repro machine code 1"
SWITCH = "REPRO_MACHINE_CODE"
# The versions of Numba whose machine code was tried without Numba.
_TRIED = ("0.68.",)
_HARMLESS = {"NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR"}
_C, _F, _ALIGNED, _WRITEABLE = 0x1, 0x2, 0x100, 0x400


@cache
def machine() -> Machine | None:
    """The machine code of this machine; None where it is not used."""
    settings = {name for name in os.environ if name.startswith("NUMBA_")} - _HARMLESS
    if os.environ.get(SWITCH) == "off" or settings or Path(".numba_config.yaml").exists():
        return None
    if sys.platform != "linux" or sys.implementation.name != "cpython" or platform.machine() != "x86_64":
        return None
    numba = version("numba")
    if not numba.startswith(_TRIED):
        return None
    from llvmlite import binding

    processor = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    versions = numba, version("llvmlite"), np.__version__, sys.implementation.cache_tag, sys.version
    return Machine(_digest(_FORMAT, *processor, *versions))


def types_of(values: tuple[Any, ...]) -> Hashable | None:
    """The types by which Numba distinguishes arguments; None for some that only Numba can pass."""
    types: list[Any] = []
    for value in values:
        if isinstance(value, np.ndarray):
            flags = value.flags.num
            order = "C" if flags & _C else "F" if flags & _F else "A"
            types.append((value.dtype.str, value.ndim, order, flags & (_ALIGNED | _WRITEABLE)))
        elif isinstance(value, tuple):
            parts = types_of(value)
            if parts is None:
                return None
            types.append((type(value).__qualname__, parts))
        elif isinstance(value, np.generic):
            types.append(value.dtype.str)
        elif type(value) in (bool, float) or (type(value) is int and -(1 << 63) <= value < 1 << 63):
            types.append(type(value).__name__)
        else:
            return None
    return tuple(types)


@dataclass(frozen=True, eq=False)
class MachineCode:
    """Machine code that is ready to be called.

    function  calls it by its address
    result    the layout of the result
    place     the type of the place for the result
    """

    function: Any
    result: layout.Layout
    place: Any

    def call(self, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
        """Whether it completed, and the result; it does not where Numba's function raises an error."""
        place, error = self.place(), ctypes.c_void_p()
        status = self.function(ctypes.byref(place), ctypes.byref(error), *layout.passed_values(arguments))
        if status not in (0, -2):  # -2: it completed, and the result is None
            return False, None
        if self.result is None:
            return True, None
        result, owners = layout.returned_value(self.result, place)
        for owner in owners:
            _release(owner)
        return True, result


def _release(owner: int) -> None:
    """Give back the memory of an array; the first field of its owner counts who uses it."""
    count = ctypes.c_size_t.from_address(owner)
    count.value -= 1
    if not count.value:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(objects.address("NRT_MemInfo_call_dtor"))(owner)


@dataclass(frozen=True)
class Machine:
    """The machine code of one processor with one set of versions.

    digest  of the processor and the versions
    """

    digest: str

    def load(self, kernel: Kernel, types: Hashable) -> MachineCode | None:
        """The stored code of a function for arguments of these types; None where there is none."""
        path = self._path(kernel, types)
        try:
            content = path.read_bytes()
            checksum, header, code = content.split(b"\n", 2)
            if checksum.decode() != hashlib.sha256(header + code).hexdigest():
                return None
            stated = json.loads(header)
            address = objects.address_in(code, stated["symbol"], stated["needs"])
            function = ctypes.CFUNCTYPE(
                ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *layout.passed_types(stated["arguments"])
            )
            return MachineCode(function(address), stated["result"], layout.returned_type(stated["result"]))
        except (OSError, ValueError, KeyError, ImportError):
            return None

    def store(self, kernel: Kernel, arguments: tuple[Any, ...]) -> None:
        """Store the code that Numba has compiled for arguments of these types, if it can be called without Numba."""
        types = types_of(arguments)
        if types is None:
            return
        # What is read here is not part of the interface of Numba. Where anything of it is different, nothing is stored.
        with suppress(Exception):
            path = self._path(kernel, types)
            content = _content(kernel.dispatcher, arguments)
            path.parent.mkdir(parents=True, exist_ok=True)
            beginning = path.name.rpartition("-")[0].rpartition("-")[0]
            for other in path.parent.glob(f"{beginning}-*.machine"):
                if other.name.rpartition("-")[0] != path.name.rpartition("-")[0]:
                    other.unlink(missing_ok=True)  # of an earlier version
            part = path.with_name(f"{path.name}.{os.getpid()}")
            part.write_bytes(content)
            part.replace(path)

    def _path(self, kernel: Kernel, types: Hashable) -> Path:
        """``module.function-DIGEST OF VERSIONS-DIGEST OF TYPES.machine``."""
        source = Path(inspect.getfile(kernel.function))
        build = _digest(self.digest, kernel.error_model, *_sources(kernel))
        name = f"{source.stem}.{kernel.function.__qualname__}.{sys.implementation.cache_tag}"
        return _folder(source) / f"{name}-{build[:16]}-{_digest(repr(types))[:16]}.machine"


def _folder(source: Path) -> Path:
    """The folder of the machine code of a source file: that of its bytecode, or where Numba is told to store."""
    if stated := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(stated) / f"repro-{_digest(str(source.parent))[:16]}"
    beside = source.parent / "__pycache__"
    if os.access(beside if beside.exists() else source.parent, os.W_OK) or any(beside.glob("*.machine")):
        return beside
    import platformdirs

    return Path(platformdirs.user_cache_dir("repro")) / "machine-code" / _digest(str(source.parent))[:16]


def _content(dispatcher: Any, arguments: tuple[Any, ...]) -> bytes:
    """A checksum, a line about how the code is called, and the code; an error where it cannot be called from here."""
    types = tuple(map(dispatcher.typeof_pyval, arguments))
    files = dispatcher._cache
    (_, kind, (code, _)), function, *_ = files._cache_file.load(files._index_key(types, dispatcher.targetctx.codegen()))
    given, result = list(map(layout.described, function.argtypes)), layout.described(function.restype)
    convention = dispatcher.targetctx.call_conv
    taken = convention.get_function_type(function.restype, function.argtypes)
    place, error, *passed = taken.args
    of_numba = [kind, " ".join(map(layout.letters, passed)), layout.letters(place.pointee), layout.letters(error)]
    if of_numba != ["object", " ".join(map(layout.letters_of, given)), layout.letters_of(result), "p"]:
        raise ValueError("Numba passes arguments or results in another way")
    needed = objects.needed_symbols(code)
    objects.require(needed)
    stated = {"symbol": function.llvm_func_name, "arguments": given, "result": result, "needs": needed}
    header = json.dumps(stated).encode()
    return hashlib.sha256(header + code).hexdigest().encode() + b"\n" + header + b"\n" + code


def _sources(kernel: Kernel) -> Iterator[str]:
    """The sources of the code: the files of the functions that it calls, and the constants they use."""
    functions, seen = [kernel.function], set()
    while functions:
        function = functions.pop()
        if function in seen:
            continue
        seen.add(function)
        yield f"{function.__module__} {_digest_of_file(inspect.getfile(function))}"
        for name, value in sorted(_globals_of(function), key=lambda pair: pair[0]):
            inner = getattr(value, "function", value)
            if isinstance(inner, FunctionType):
                functions.append(inner)
            elif isinstance(inner, bool | int | float | str | tuple | np.generic | np.ndarray):
                yield f"{name} {inner!r}"


def _globals_of(function: Any) -> Iterator[tuple[str, Any]]:
    for name in function.__code__.co_names:
        if name in function.__globals__:
            yield name, function.__globals__[name]


@cache
def _digest_of_file(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
