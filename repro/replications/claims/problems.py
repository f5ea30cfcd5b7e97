"""Everything that is wrong with a claim file, at once: places to fill in, invalid entries, absent files and digests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from repro.data import datasets, load_dataset
from repro.data.registry import SYNTHETIC
from repro.errors import ReproError
from repro.replications.claims import reader, statements
from repro.replications.claims.claim import Data, claimed_algorithms
from repro.replications.claims.printed import Tolerance
from repro.replications.claims.statements import ClaimFile
from repro.replications.claims.unfilled import is_unfilled, unfilled_places
from repro.study.model import read_toml

Kind = Literal["to fill in", "invalid", "absent", "digest"]


@dataclass(frozen=True)
class Problem:
    """A problem of a claim file: its kind, its line (0 if it has none), and what to do."""

    kind: Kind
    line: int
    text: str

    def to_dict(self) -> dict[str, object]:
        """All fields as JSON-compatible data."""
        return asdict(self)


def problems_of(path: str | Path) -> list[Problem]:
    """All problems of a claim file, in the order of its lines.

    An entry with a place to fill in is not read further. Data is read, to compare its digest, if it is here.
    """
    path = Path(path)
    text, document = read_toml(path, "claim")
    found = [
        Problem("to fill in", _line(text, hint), f"{key}: {hint or 'a value'}")
        for key, hint in unfilled_places(document)
    ]
    invalid = list(dict.fromkeys(message for message in _messages(path, text, document)))
    if not found and not invalid:
        invalid = _raised(lambda: reader.read_claim(path))
    found += [_invalid(path, message) for message in invalid]
    found += list(_of_data(path, text, document))
    return sorted(dict.fromkeys(found), key=lambda problem: problem.line)


def _messages(path: Path, text: str, document: Mapping[str, Any]) -> Iterator[str]:
    """The errors of each section, read by itself and without the entries that have places to fill in."""

    def file(**sections: Any) -> ClaimFile:
        return ClaimFile(path, text, {**document, **sections})

    yield from _raised(lambda: reader.read_frameworks(file()))
    yield from _raised(lambda: reader.read_examples(file()))
    for line in document.get("algorithms", []) if isinstance(document.get("algorithms"), list) else []:
        if not is_incomplete(line):
            label = line.get("label", line.get("use", "")) if isinstance(line, Mapping) else line
            yield from (f"algorithm '{label}': {message}" for message in _raised(partial(claimed_algorithms, [line])))
    further = document.get("protocols", {})
    settings = {"protocol": document.get("protocol"), **{f"protocols.{name}": entry for name, entry in further.items()}}
    for key, entry in settings.items():
        if entry is not None and not is_incomplete(entry):
            yield from _raised(partial(reader.read_setting, file(), entry, key, None))
    tables = document.get("table", [])
    for table in tables if isinstance(tables, list) else [tables]:
        readable = (
            {key: row for key, row in table.items() if not is_incomplete(row)} if isinstance(table, Mapping) else table
        )
        if not isinstance(readable, Mapping) or "metrics" in readable:
            yield from _raised(partial(statements.read_cells, file(table=readable, cells=[]), Tolerance()))
    for key, read in (("facts", statements.read_facts), ("patterns", statements.read_patterns)):
        if not is_incomplete(document.get(key)):
            yield from _raised(partial(read, file()))


def is_incomplete(entry: object) -> bool:
    """Whether an entry has a place that is to be filled in."""
    return is_unfilled(entry) or next(unfilled_places(entry), None) is not None


def _raised(read: Callable[[], object]) -> list[str]:
    """The messages of the error that a function raises; none if it returns."""
    try:
        read()
    except ReproError as error:
        return [line for line in str(error).splitlines() if line.strip()]
    return []


def _invalid(path: Path, message: str) -> Problem:
    place = re.search(rf"{re.escape(str(path))}:(\d+): |{re.escape(path.name)}:(\d+): ", message)
    line = int(place[1] or place[2]) if place else 0
    return Problem("invalid", line, message.replace(place[0], "") if place else message)


def _of_data(path: Path, text: str, document: Mapping[str, Any]) -> Iterator[Problem]:
    """Data sets that are not here, and digests that are not those of the data."""
    entries = {"data": document.get("data"), **document.get("datasets", {})}
    for key, entry in entries.items():
        if entry is None or is_incomplete(entry):
            continue
        try:
            data = reader.read_data(
                ClaimFile(path, text, document), "data" if key == "data" else f"datasets.{key}", entry
            )
        except ReproError as error:
            yield _invalid(path, str(error))
            continue
        line, own_file = _line(text, data.name), path.parent / data.name
        known = data.name in (*datasets(), SYNTHETIC)
        if not known and not own_file.is_file():
            message = f"the data {data.name} is neither a data set of `repro data list` nor a file next to the claim"
            yield Problem("absent", line, message)
            continue
        if data.digest and (
            own_file.is_file() or (known and data.name != SYNTHETIC and datasets()[data.name].cached())
        ):
            yield from _digest(data, own_file, _line(text, data.digest))


def _digest(data: Data, own_file: Path, line: int) -> Iterator[Problem]:
    try:
        digest = load_dataset(own_file if own_file.is_file() else data.name, **data.options).digest
    except ReproError as error:
        yield Problem("invalid", line, f"the data {data.name} cannot be read: {str(error).splitlines()[0]}")
        return
    if digest != data.digest:
        message = f"the digest of {data.name} is {digest}, and the claim states {data.digest}"
        yield Problem("digest", line, f"{message}; get the data of the source, or correct the digest")


def _line(text: str, value: str) -> int:
    """The line of a value."""
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return next((number for number, line in enumerate(text.splitlines(), 1) if quoted and quoted in line), 0)
