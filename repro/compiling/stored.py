"""Machine code of compiled functions on disk, and how a process without Numba calls it.

Numba keeps compiled functions on disk, but loading them needs Numba. Of each function that is called from Python, the
same object code is therefore stored a second time, beside Numba's files, with the layout of arguments and results. The
name of its file has digests of all that it depends on: the processor and the versions of Python, NumPy, Numba and LLVM;
the function with all that it calls (:mod:`repro.compiling.identity`); and the types of the arguments. A file of another
version is therefore not found, and Numba compiles. The file states its own name and has a digest of its content. It is
used only where nobody can have written it who cannot change the sources too (:mod:`repro.compiling.folders`).

There is no machine code (:func:`machine` is None) on systems where it was not tried, and where a setting of Numba's own
might change it. ``REPRO_MACHINE_CODE=off`` turns it off as well.
"""

from __future__ import annotations

import ctypes
import glob
import hashlib
import inspect
import json
import os
import platform
import sys
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from repro.compiling import layout, objects
from repro.compiling.folders import folder_of, read, write
from repro.compiling.identity import digest_of

if TYPE_CHECKING:
    from repro.compiling.kernel import Kernel

_FORMAT = "repro machine code 2"
SWITCH = "REPRO_MACHINE_CODE"
# The versions of Numba whose machine code was tried without Numba.
_TRIED = ("0.68.",)
_HARMLESS = {"NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR"}
# Numba takes these numbers of NumPy and those of Python to be of the same type.
_AS_PYTHON = {"|b1": "bool", "<i8": "int", "<f8": "float"}
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
    return Machine(digest_of(_FORMAT, *processor, *versions))


def types_of(values: tuple[Any, ...]) -> Hashable | None:
    """The types by which Numba distinguishes arguments; None for some that only Numba can pass."""
    types: list[Any] = []
    for value in values:
        if type(value) in (np.ndarray, np.memmap):
            flags = value.flags.num
            order = "C" if flags & _C else "F" if flags & _F else "A"
            types.append((value.dtype.str, value.ndim, order, flags & (_ALIGNED | _WRITEABLE)))
        elif isinstance(value, tuple):
            parts = types_of(value)
            if parts is None:
                return None
            kind = type(value)
            types.append((kind.__module__, kind.__qualname__, getattr(kind, "_fields", ()), parts))
        elif isinstance(value, np.generic):
            types.append(_AS_PYTHON.get(value.dtype.str, value.dtype.str))
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
        """The stored code of a function for arguments of these types; None where there is none that is as stated."""
        try:
            path = self._path(kernel, types)
            checksum, header, code = read(path, _source_of(kernel)).split(b"\n", 2)
            if checksum.decode() != hashlib.sha256(header + code).hexdigest():
                return None
            stated = json.loads(header)
            if stated["file"] != path.name:
                return None
            address = objects.address_in(code, stated["symbol"], stated["needs"])
            function = ctypes.CFUNCTYPE(
                ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *layout.passed_types(stated["arguments"])
            )
            return MachineCode(function(address), stated["result"], layout.returned_type(stated["result"]))
        except (OSError, ValueError, KeyError, ImportError, RuntimeError):
            return None

    def store(self, kernel: Kernel, arguments: tuple[Any, ...]) -> None:
        """Store the code that Numba has compiled for arguments of these types, if it can be called without Numba."""
        types = types_of(arguments)
        if types is None:
            return
        # What is read here is not part of the interface of Numba. Where anything of it is different, nothing is stored.
        with suppress(Exception):
            path = self._path(kernel, types)
            write(path, _content(kernel.dispatcher, arguments, path.name), _source_of(kernel))
            function, identity, _ = path.name.rsplit("-", 2)
            for other in path.parent.glob(f"{glob.escape(function)}-*.machine"):
                if other.name.rsplit("-", 2)[:2] != [function, identity]:
                    other.unlink(missing_ok=True)  # of an earlier version

    def _path(self, kernel: Kernel, types: Hashable) -> Path:
        """``module.function-MACHINE-FUNCTION-TYPES.machine``, with digests; a ValueError for an unknown function."""
        if kernel.identity is None:
            raise ValueError(f"{kernel.function.__qualname__} uses values that have no digest")
        source = _source_of(kernel)
        digests = self.digest[:16], kernel.identity[:16], digest_of(repr(types))[:16]
        return folder_of(source) / f"{source.stem}.{kernel.function.__qualname__}-{'-'.join(digests)}.machine"


def _source_of(kernel: Kernel) -> Path:
    return Path(inspect.getfile(kernel.function))


def _content(dispatcher: Any, arguments: tuple[Any, ...], file: str) -> bytes:
    """A checksum, a line about how the code is called, and the code; an error where it cannot be called from here."""
    types = tuple(map(dispatcher.typeof_pyval, arguments))
    files = dispatcher._cache
    (_, kind, (code, _)), function, *_ = files._cache_file.load(files._index_key(types, dispatcher.targetctx.codegen()))
    if tuple(function.argtypes) != types:
        raise ValueError("Numba has compiled the function for other types")
    given, result = list(map(layout.described, function.argtypes)), layout.described(function.restype, returned=True)
    convention = dispatcher.targetctx.call_conv
    taken = convention.get_function_type(function.restype, function.argtypes)
    place, error, *passed = taken.args
    of_numba = [kind, " ".join(map(layout.letters, passed)), layout.letters(place.pointee), layout.letters(error)]
    if of_numba != ["object", " ".join(map(layout.letters_of, given)), layout.letters_of(result), "p"]:
        raise ValueError("Numba passes arguments or results in another way")
    needed = objects.needed_symbols(code)
    objects.require(needed)
    call = {"symbol": function.llvm_func_name, "arguments": given, "result": result, "needs": needed}
    header = json.dumps({"file": file, **call}).encode()
    return hashlib.sha256(header + code).hexdigest().encode() + b"\n" + header + b"\n" + code
