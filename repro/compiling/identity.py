"""Digests of compiled functions: of all that determines the code that Numba makes of them.

Numba finds stored code by the file of the function itself. Functions that it calls may be in other files, and a file
may be changed while a process that has imported it is at work. The digests here are therefore of what the process has:
the bytecode of a function and of all functions that it calls, and the values of the global names that they use.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

# Packages whose versions are part of the names of stored code.
_VERSIONED = {"builtins", "math", "numba", "numpy"}
_CODE = (
    "co_code",
    "co_exceptiontable",
    "co_flags",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
)


def digest_of(*parts: str) -> str:
    """The digest of some texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def identity_of(kernel: Any) -> str:
    """The digest of a compiled function; a ValueError where it uses a value that has no digest here."""
    parts, waiting, seen = [], [kernel], set()
    while waiting:
        callee = waiting.pop()
        function = getattr(callee, "function", callee)
        if function in seen:
            continue
        seen.add(function)
        parts += [str(function.__module__), function.__qualname__, str(getattr(callee, "error_model", None))]
        parts += _code(function.__code__)
        values = dict(_globals_of(function), defaults=(function.__defaults__ or (), function.__kwdefaults__ or ()))
        for cell, name in zip(function.__closure__ or (), function.__code__.co_freevars, strict=True):
            values[f"closure {name}"] = cell.cell_contents
        for name, value in sorted(values.items()):
            if isinstance(getattr(value, "function", value), FunctionType):
                waiting.append(value)
            else:
                parts += [name, _value(value)]
    return digest_of(*parts)


def _globals_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The global names of a function, and of those within it, with their values."""
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        for name in code.co_names:
            if name in function.__globals__:
                yield name, function.__globals__[name]


def _code(code: CodeType) -> Iterator[str]:
    for attribute in _CODE:
        yield repr(getattr(code, attribute))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield _value(constant)


def _value(value: Any) -> str:
    """A text that differs where the values differ for compiled code."""
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.hasobject:
            raise ValueError(f"an array of Python objects has no digest: {value!r}")
        array = np.asarray(value)
        return f"{type(value).__name__} {array.dtype.descr} {array.shape} {array.flags.num} {array.tobytes().hex()}"
    if isinstance(value, tuple | list | set | frozenset | dict):
        members = [_value(pair) for pair in value.items()] if isinstance(value, dict) else list(map(_value, value))
        in_order = members if isinstance(value, tuple | list) else sorted(members)
        return f"{_name(type(value))} {getattr(value, '_fields', '')} ({', '.join(in_order)})"
    if isinstance(value, type) and hasattr(value, "_fields"):
        return f"{_name(value)} {value._fields}"
    if value is None or value is ... or isinstance(value, bool | int | float | complex | str | bytes):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, ModuleType):
        return _of_version(value.__name__)
    if isinstance(value, type | BuiltinFunctionType | np.ufunc) or hasattr(value, "__wrapped__"):
        return _of_version(f"{getattr(value, '__module__', None) or 'numpy'}.{value.__name__}")
    raise ValueError(f"a value of {type(value).__name__} has no digest here: {value!r}")


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _of_version(name: str) -> str:
    if name.partition(".")[0] not in _VERSIONED:
        raise ValueError(f"{name} is of a package whose version is not part of the name of stored code")
    return name
