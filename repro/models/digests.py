"""Digests of a user's own code and of the content of objects, for the journal."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from repro.models.returned import is_sparse

_DEEPEST = 20


def source_digest(code: Any) -> str | None:
    """The SHA-256 of the source text of a class, with the classes of its module that it is made from, or of a
    function; None where there is no text."""
    parts = [base for base in code.__mro__ if base.__module__ == code.__module__] if inspect.isclass(code) else [code]
    try:
        return _sha256("\n".join(inspect.getsource(part) for part in parts).encode())
    except (OSError, TypeError):
        return None


def module_digest(code: Any) -> str | None:
    """The SHA-256 of the file of the module that defines a class or a function; None without a file of its own."""
    module = sys.modules.get(code.__module__)
    path = getattr(module, "__file__", None)
    if code.__module__ == "__main__" or path is None or package_of(code):
        return None
    try:
        return _sha256(Path(path).read_bytes())
    except OSError:
        return None


def package_of(code: Any) -> str:
    """The installed distribution with its version that a class or a function is from; empty for the user's own."""
    module = sys.modules.get(code.__module__)
    path = Path(getattr(module, "__file__", None) or "").as_posix()
    if not {"site-packages", "dist-packages"} & set(path.split("/")):
        return ""
    names = packages_distributions().get(code.__module__.partition(".")[0], [])
    return f"{names[0]} {version(names[0])}" if names else code.__module__.partition(".")[0]


def content_digest(value: object) -> str:
    """The SHA-256 of the content of an object: numbers, text, arrays, frames, and the attributes of other objects.

    Equal content has the same digest in every process. Of code within the content, only the name counts.
    """
    digest = hashlib.sha256()
    for part in _parts(value, (), 0):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _parts(value: Any, within: tuple[int, ...], depth: int) -> Iterator[bytes]:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bytes | int | float | complex):
        yield f"{type(value).__name__} {value!r}".encode(errors="surrogatepass")
        return
    yield f"{type(value).__module__}.{type(value).__qualname__}".encode()
    if id(value) in within or depth > _DEEPEST:
        return
    within = (*within, id(value))
    for part in _within(value):
        yield from (part,) if isinstance(part, bytes) else _parts(part, within, depth + 1)


def _within(value: Any) -> Iterator[Any]:
    """The parts of an object that its digest covers."""
    if isinstance(value, np.ndarray):
        yield f"{value.dtype.str} {value.shape}".encode()
        if value.dtype.kind == "O":
            yield from value.ravel().tolist()
        else:
            yield np.ascontiguousarray(value).tobytes()
    elif is_sparse(value):
        stored = value.tocsr().copy()
        stored.sum_duplicates()
        yield from (stored.shape, stored.indptr.astype("<i8"), stored.indices.astype("<i8"), stored.data)
    elif isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        axes = [] if isinstance(value, pd.Index) else value.axes
        yield from (np.asarray(axis, dtype=object) for axis in axes)
        yield value.to_numpy()
    elif isinstance(value, Mapping):
        yield from sorted(((content_digest(key), inner) for key, inner in value.items()), key=lambda pair: pair[0])
    elif isinstance(value, AbstractSet):
        yield from sorted(map(content_digest, value))
    elif isinstance(value, list | tuple):
        yield from value
    elif isinstance(value, partial):
        yield from (value.func, value.args, value.keywords)
    elif inspect.isfunction(value):
        yield value.__qualname__.encode()
        yield from (value.__defaults__, value.__kwdefaults__)
        outside = inspect.getclosurevars(value)
        yield {**outside.nonlocals, **outside.globals}
    elif inspect.isclass(value) or inspect.ismodule(value):
        yield value.__name__.encode()
    elif inspect.ismethod(value):
        yield from (value.__func__, value.__self__)
    else:
        yield from attributes(value).items()


def attributes(value: object) -> dict[str, Any]:
    """The attributes of an object by name, also of one with slots, in the order of their names."""
    slots = (name for base in type(value).__mro__ for name in _names(getattr(base, "__slots__", ())))
    held = {name: getattr(value, name) for name in slots if hasattr(value, name)} | getattr(value, "__dict__", {})
    return dict(sorted(held.items()))


def _names(slots: Any) -> tuple[str, ...]:
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
