"""Load a named data set, a file, or synthetic data."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from repro.data.download import Fetched, Progress, get_dataset
from repro.data.interactions import Interactions
from repro.data.io.options import ReadOptions
from repro.data.io.tables import ReadResult, read_with_notes
from repro.data.registry import SYNTHETIC, datasets
from repro.data.synthetic import synthetic_interactions
from repro.errors import DataError, nearest


def load_dataset(
    name_or_path: str | os.PathLike[str], *, progress: Progress | None = None, **options: Any
) -> Interactions:
    """Interactions by the name of a data set (downloaded if it is not here), from a file, or ``"synthetic"``.

    Options are the fields of :class:`repro.data.ReadOptions` for a file (and, for a named data set, change how its
    file is read) and those of :func:`synthetic_interactions` for synthetic data. A study of what is returned knows the
    name: its journal and its files have it.

    >>> study = repro.Study(repro.load_dataset("ratings.csv"), "random-5fold", "reference/ease", "ndcg@10")
    >>> study.data_name
    'ratings.csv'
    """
    rows = load_with_notes(name_or_path, progress=progress, **options).interactions
    return rows.loaded_from(os.fspath(name_or_path), options)


def load_with_notes(
    name_or_path: str | os.PathLike[str], *, progress: Progress | None = None, **options: Any
) -> ReadResult:
    """The result of :func:`load_dataset`, with notes on the assumptions made to read the file."""
    name = os.fspath(name_or_path)
    if name == SYNTHETIC:
        _check_options(options, synthetic_interactions, name)
        return ReadResult(synthetic_interactions(**options), SYNTHETIC, ())
    _check_options(options, ReadOptions, name)
    if name not in datasets() and (isinstance(name_or_path, Path) or Path(name).exists() or _looks_like_path(name)):
        return read_with_notes(name, ReadOptions(**options))
    fetched = get_dataset(name, progress)
    result = read_with_notes(fetched.path, ReadOptions(**{**fetched.source.reader, **options}))
    if not options:
        _check_content(result.interactions, fetched)
    return result


def _looks_like_path(name: str) -> bool:
    return "/" in name or os.sep in name or bool(Path(name).suffix)


def _check_options(options: dict[str, Any], function: Callable[..., Any], name: str) -> None:
    """Reject options that the function does not have, and values of another type than it declares."""
    known, hints = list(inspect.signature(function).parameters), get_type_hints(function)
    for option, value in options.items():
        if option not in known:
            raise DataError(
                f"{name} has no option '{option}'{nearest(option, known)} Its options are {', '.join(known)}"
            )
        if not _is_instance(value, hints[option]):
            types = " or ".join(type_.__name__ for type_ in _types(hints[option]) if type_ is not NoneType)
            raise DataError(f"{name}: the option {option} is {value!r}, but must be {types}")


def _types(hint: Any) -> tuple[type, ...]:
    """The types that an annotation allows: ``str | None`` is two of them."""
    return tuple(get_origin(type_) or type_ for type_ in (get_args(hint) or (hint,)))


def _is_instance(value: object, hint: Any) -> bool:
    types = _types(hint)
    if isinstance(value, bool | str):  # True does not count as a number, nor text as a sequence of letters
        return type(value) in types
    return isinstance(value, types) or (isinstance(value, int) and float in types)


def _check_content(rows: Interactions, fetched: Fetched) -> None:
    expected = fetched.dataset
    if expected.rows is not None and len(rows) != expected.rows:
        raise DataError(
            f"{fetched.path} has {len(rows):,} rows, but {expected.title} has {expected.rows:,}; "
            "delete the file and get it again"
        )
    if expected.digest is not None and rows.digest != expected.digest:
        raise DataError(
            f"{fetched.path}: its content digest is {rows.digest}, but that of {expected.title} is "
            f"{expected.digest}; delete the file and get it again"
        )
