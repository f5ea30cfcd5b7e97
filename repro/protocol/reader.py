"""Protocol files: looked up by name, read with line numbers, rejected with everything that is wrong in them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from repro.errors import ProtocolError, nearest
from repro.protocol.decision import Value
from repro.protocol.model import Protocol, resolve
from repro.protocol.registry import registry
from repro.protocol.table import ProtocolTable
from repro.protocol.toml import parse_toml, toml_value

TABLES = "tables"
HEADERS = ("base", "name", "title", "source", "notes", "open")
LONGEST = 50  # protocols that may build on each other
# Protocol files that are being read, each with its path: the first builds on the second, and so on.
Chain = tuple[tuple[str, Path], ...]


def protocol_folder() -> Path:
    """The folder of the suite's protocols: inside the installed package, or next to it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_protocols"
    return installed if installed.is_dir() else package.parent / "protocols"


def protocol_names() -> list[str]:
    """The names of the protocols of the suite; those in a table have its name before their own: ``inferred/...``."""
    folder = protocol_folder()
    tables = {path.stem: read_table(path) for path in sorted((folder / TABLES).glob("*.toml"))}
    rows = [f"{group}/{name}" for group, table in tables.items() for name in sorted(table)]
    return [*sorted(path.stem for path in folder.glob("*.toml")), *rows]


def read_table(path: Path) -> ProtocolTable:
    """The table of protocols in a file."""
    return _table(_text(path), path.name)


@lru_cache(maxsize=4)  # a command may read each protocol of a table
def _table(text: str, label: str) -> ProtocolTable:
    return ProtocolTable(text, label, read_protocol)


def read_protocol(name_or_path: str | Path) -> Protocol:
    """The protocol of that name, or in that file."""
    return _read(name_or_path, Path(), ())


def _read(name_or_path: str | Path, folder: Path, readers: Chain) -> Protocol:
    """The same, for a path relative to ``folder``, and for the files ``readers`` that build on it."""
    path, name = folder / name_or_path, str(name_or_path)
    if path.suffix == ".toml":
        return _read_file(path, str(path), readers)
    bundled = protocol_folder() / f"{name}.toml"
    if Path(name).name == name and bundled.is_file():
        protocol = _read_file(bundled, f"protocols/{name}.toml", readers)
        return protocol if protocol.name else replace(protocol, name=name)
    group, _, row = name.partition("/")
    table = protocol_folder() / TABLES / f"{group}.toml"
    if row and table.is_file() and row in (rows := read_table(table)):
        return replace(rows[row], name=name)
    if Path(name).name == name or not path.is_file():
        raise ProtocolError(
            f"there is no protocol '{name}'{nearest(name, protocol_names())} "
            "`repro protocol list` shows them; a file is given by its path, ending in .toml"
        )
    return _read_file(path, str(path), readers)


def _read_file(path: Path, label: str, readers: Chain) -> Protocol:
    return _parse(_text(path), label, path.parent, (*readers, (label, path.resolve())))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ProtocolError(f"cannot read the protocol file {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{path} is not a text file in UTF-8 ({error.reason}); is it a TOML file?") from None


def parse_protocol(text: str, label: str, folder: Path | None = None) -> Protocol:
    """The protocol in ``text``; ``label`` names it in messages, ``folder`` is where its files are.

    A text with ``base = "NAME"`` (or the path of a file, from ``folder``) states only the decisions that differ from
    that protocol. It is the same protocol, with the same hash, as one that states all of them.
    """
    return _parse(text, label, folder or Path(), ())


def _parse(text: str, label: str, folder: Path, readers: Chain) -> Protocol:
    try:
        document = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise ProtocolError(f"{label} is not valid TOML: {error}") from None
    headers = {key: document.pop(key) for key in HEADERS if key in document}
    problems = [
        f"{label}:{line_of(text, key)}: {key} must be text, not {type(value).__name__}"
        for key, value in headers.items()
        if key != "open" and not isinstance(value, str)
    ]
    open_ = headers.get("open", [])
    if not isinstance(open_, list) or not all(isinstance(key, str) for key in open_):
        problems.append(f'{label}: open must be a list of decisions, such as ["ties.break"]')
        open_ = []
    problems += [
        f"{label}: open names the unknown decision '{key}'{nearest(key, registry())}"
        for key in open_
        if key not in registry()
    ]
    stated = flatten(document)
    origins = {key: f"{label}:{line_of(text, key)}" for key in stated}
    base = headers.get("base")
    try:
        if isinstance(base, str):
            protocol = _base(base, f"{label}:{line_of(text, 'base')}", folder, readers)
            protocol = protocol.replace(stated, origins, folder)
        else:
            protocol = replace(resolve(stated, origins), folder=folder)
    except ProtocolError as error:
        problems.append(str(error))
    if problems:
        raise ProtocolError("\n".join(problems))
    texts = {key: headers.get(key, "") for key in ("name", "title", "source", "notes")}
    return replace(protocol, **texts, open=tuple(open_) if "open" in headers else protocol.open)


def _base(name: str, where: str, folder: Path, readers: Chain) -> Protocol:
    """The protocol that a file builds on; ``readers`` are that file and those that build on it in turn."""
    is_file = name.endswith(".toml")
    path = (folder / name if is_file else protocol_folder() / f"{name}.toml").resolve()
    if path in [reader for _, reader in readers]:
        chain = " -> ".join([*(label for label, _ in readers), name])
        raise ProtocolError(f"{where}: the base {name} builds on this file: {chain}; remove base from one of them")
    if len(readers) >= LONGEST:
        raise ProtocolError(f"{where}: more than {LONGEST} protocols build on each other; state the decisions here")
    try:
        return _read(name, folder if is_file else Path(), readers)
    except ProtocolError as error:
        if is_file and not path.is_file():
            raise ProtocolError(f"{where}: there is no file {folder / name}, which base names") from None
        raise ProtocolError(f"{where}: base = {toml_value(name)}: {error}") from None


def flatten(document: Mapping[str, object], prefix: str = "") -> dict[str, Value]:
    """Nested tables as dotted keys."""
    flat: dict[str, Value] = {}
    for key, value in document.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value  # type: ignore[assignment]  # the registry checks the type
    return flat


_TABLE = re.compile(r"^\s*\[+\s*([^\]]+?)\s*\]+")
_KEY = re.compile(r"""^\s*([A-Za-z0-9_."' -]+?)\s*=""")


def line_of(text: str, key: str) -> int:
    """The line of ``text`` on which the dotted ``key`` is set (its table's line if it is set inline)."""
    best = 1
    for number, name in _places(text):
        if name == key:
            return number
        if key.startswith(name + "."):
            best = number
    return best


@lru_cache(maxsize=1)  # every key of a file is looked up, one after the other
def _places(text: str) -> tuple[tuple[int, str], ...]:
    """The lines that open a table or set a key, with the dotted name of it."""
    table, places = "", []
    for number, line in enumerate(text.splitlines(), 1):
        if header := _TABLE.match(line):
            table = _plain(header[1]) + "."
            places.append((number, table.rstrip(".")))
        elif assignment := _KEY.match(line):
            places.append((number, table + _plain(assignment[1])))
    return tuple(places)


def _plain(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
