"""Access to the tables of a claim file, with errors that state the line, the value and what is expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from repro.errors import StudyError, nearest
from repro.protocol import line_of


class ClaimFile:
    """The content of a claim file, with errors that name the line."""

    def __init__(self, path: Path, text: str, document: Mapping[str, Any]) -> None:
        self.path, self.text, self.document = path, text, document
        self._above = 0  # lines above the table that is being read, where several tables have the same name

    def error(self, key: str, problem: str) -> StudyError:
        """An error about a key, with its line."""
        below = "\n".join(self.text.splitlines()[self._above :])
        return StudyError(f"{self.path}:{self._above + line_of(below, key)}: {problem}")

    def table(self, entry: object, key: str, allowed: Sequence[str], required: Sequence[str] = ()) -> Mapping[str, Any]:
        """Return ``entry`` if it is a table with allowed keys only and all required ones."""
        if not isinstance(entry, Mapping):
            raise self.error(key, f"{key} must be a table with {', '.join(allowed)}; it is {entry!r}")
        for name in entry:
            if name not in allowed:
                where = self.error(f"{key}.{name}", f"unknown key '{name}' in [{key}]{nearest(name, allowed)}")
                raise StudyError(f"{where} Allowed: {', '.join(allowed)}")
        for name in required:
            if name not in entry:
                raise self.error(key, f"[{key}] has no '{name}'; it needs {' and '.join(required)}")
        return entry

    def tables(self, key: str) -> Iterator[Any]:
        """The entries of a list of tables, ``[[key]]``; errors name the line within the current entry."""
        entries = self.document.get(key, [])
        if not isinstance(entries, list):
            raise self.error(key, f"write each of the {key} as [[{key}]]")
        lines = self.text.splitlines()
        heads = [number for number, line in enumerate(lines) if line.replace(" ", "").startswith(f"[[{key}]]")]
        for position, entry in enumerate(entries):
            self._above = heads[position] if position < len(heads) else 0
            yield entry
        self._above = 0

    def string(self, entry: object, key: str) -> str:
        """Return ``entry`` if it is text."""
        if not isinstance(entry, str):
            raise self.error(key, f"{key} = {entry!r} must be text")
        return entry

    def seeds(self, entry: object, key: str) -> tuple[int, ...]:
        """Return a list of seeds without repetitions; the first is the seed of the source."""
        if not isinstance(entry, list) or not entry or not all(type(seed) is int and seed >= 0 for seed in entry):
            raise self.error(key, f"{key} = {entry!r} must be a list of whole numbers, such as [0, 1, 2]")
        return tuple(dict.fromkeys(entry))
