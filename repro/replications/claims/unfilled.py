"""Places of a claim that are still to be filled in: values that begin with "?"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_MARK = "?"


def unfilled(hint: str) -> str:
    """A value that is to be filled in, with what belongs there."""
    return f"{_MARK} {hint}"


def is_unfilled(value: object) -> bool:
    """Whether a value is still to be filled in."""
    return isinstance(value, str) and value.lstrip().startswith(_MARK)


def unfilled_places(document: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Each place that is to be filled in, by its key, with what belongs there."""
    if is_unfilled(document):
        yield key, str(document).lstrip().removeprefix(_MARK).strip()
    elif isinstance(document, Mapping):
        for name, value in document.items():
            yield from unfilled_places(value, f"{key}.{name}" if key else str(name))
    elif isinstance(document, list):
        for value in document:
            yield from unfilled_places(value, key)


def without_unfilled(document: Any) -> Any:
    """The document without the values that are to be filled in; a list or table that loses one is left out whole."""
    if isinstance(document, Mapping):
        return {name: kept for name, value in document.items() if (kept := without_unfilled(value)) is not None}
    if isinstance(document, list):
        if any(is_unfilled(value) for value in document):
            return None
        return [kept for value in document if (kept := without_unfilled(value)) is not None]
    return None if is_unfilled(document) else document
