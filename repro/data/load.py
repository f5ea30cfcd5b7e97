"""A data set by its name, a file of the user's own, or synthetic data: one door for all."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from repro.data.download import Fetched, Progress, get_dataset
from repro.data.interactions import Interactions
from repro.data.io.readers import Reading, read_told
from repro.data.registry import SYNTHETIC, datasets
from repro.data.synthetic import synthetic_interactions
from repro.errors import DataError, nearest


def load_dataset(
    name_or_path: str | os.PathLike[str], *, progress: Progress | None = None, **options: Any
) -> Interactions:
    """Interactions by the name of a data set (fetched if it is not here), from a file, or ``"synthetic"``.

    Options are those of :func:`read_interactions` for a file (and, for a named data set, change how its file
    is read) and those of :func:`synthetic_interactions` for synthetic data.
    """
    return load_told(name_or_path, progress=progress, **options).interactions


def load_told(name_or_path: str | os.PathLike[str], *, progress: Progress | None = None, **options: Any) -> Reading:
    """As :func:`load_dataset`, with what was assumed to read the file."""
    name = os.fspath(name_or_path)
    if name == SYNTHETIC:
        return Reading(synthetic_interactions(**_accepted(options, synthetic_interactions, name)), SYNTHETIC, ())
    _accepted(options, read_told, name)
    if name not in datasets() and (isinstance(name_or_path, Path) or Path(name).exists() or _looks_like_path(name)):
        return read_told(name, **options)
    fetched = get_dataset(name, progress)
    told = read_told(fetched.path, **{**fetched.source.reader, **options})
    if not options:
        _check_content(told.interactions, fetched)
    return told


def _looks_like_path(name: str) -> bool:
    return "/" in name or os.sep in name or bool(Path(name).suffix)


def _accepted(options: dict[str, Any], function: Callable[..., Any], name: str) -> dict[str, Any]:
    known = [option for option in inspect.signature(function).parameters if option != "path"]
    for option in options:
        if option not in known:
            raise DataError(
                f"{name} has no option '{option}'{nearest(option, known)} Its options are {', '.join(known)}"
            )
    hints = get_type_hints(function)
    for option, value in options.items():
        if not _is_a(value, hints[option]):
            wanted = " or ".join(kind.__name__ for kind in _kinds(hints[option]) if kind is not NoneType)
            raise DataError(f"{name}: the option {option} is {value!r}, but must be {wanted}")
    return options


def _kinds(hint: Any) -> tuple[type, ...]:
    """The classes that an annotation allows: ``str | None`` is two of them."""
    return tuple(get_origin(kind) or kind for kind in (get_args(hint) or (hint,)))


def _is_a(value: object, hint: Any) -> bool:
    kinds = _kinds(hint)
    if isinstance(value, bool | str):  # True is no number, and text no sequence of letters
        return type(value) in kinds
    return isinstance(value, kinds) or (isinstance(value, int) and float in kinds)


def _check_content(found: Interactions, fetched: Fetched) -> None:
    expected = fetched.dataset
    if expected.rows is not None and len(found) != expected.rows:
        raise DataError(
            f"{fetched.path} has {len(found):,} rows, but {expected.title} has {expected.rows:,}; "
            "delete the file and get it again"
        )
    if expected.digest is not None and found.digest != expected.digest:
        raise DataError(
            f"{fetched.path}: its content digest is {found.digest}, but that of {expected.title} is "
            f"{expected.digest}; delete the file and get it again"
        )
