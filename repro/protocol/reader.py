"""Protocol files: found by name, read with line numbers, refused with all that is wrong in them."""

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
from repro.protocol.toml import parse_toml

HEADERS = ("name", "title", "source", "notes", "open")


def protocol_folder() -> Path:
    """Where the protocols of the suite are: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_protocols"
    return installed if installed.is_dir() else package.parent / "protocols"


def protocol_names() -> list[str]:
    """The names of the protocols of the suite; those in a folder of their own have its name: ``inferred/...``."""
    folder = protocol_folder()
    found = (path.relative_to(folder).as_posix().removesuffix(".toml") for path in folder.rglob("*.toml"))
    return sorted(found, key=lambda name: ("/" in name, name))


def read_protocol(name_or_path: str | Path) -> Protocol:
    """The protocol of that name, or in that file."""
    path, name = Path(name_or_path), str(name_or_path)
    if path.suffix == ".toml":
        return _read_file(path, str(path))
    bundled = protocol_folder() / f"{name}.toml"
    if not path.is_absolute() and ".." not in path.parts and bundled.is_file():
        protocol = _read_file(bundled, f"protocols/{name}.toml")
        return protocol if protocol.name else replace(protocol, name=name)
    if path.name == name or not path.is_file():
        raise ProtocolError(
            f"there is no protocol '{name}'{nearest(name, protocol_names())} "
            "`repro protocol list` shows them; a file is given by its path, ending in .toml"
        )
    return _read_file(path, str(path))


def _read_file(path: Path, label: str) -> Protocol:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ProtocolError(f"cannot read the protocol file {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{path} is not a text file in UTF-8 ({error.reason}); is it a TOML file?") from None
    return parse_protocol(text, label, path.parent)


def parse_protocol(text: str, label: str, folder: Path | None = None) -> Protocol:
    """The protocol in ``text``; ``label`` names it in messages, ``folder`` is where its files are."""
    try:
        document = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise ProtocolError(f"{label} is not valid TOML: {error}") from None
    headers = {key: document.pop(key) for key in HEADERS if key in document}
    problems = [
        f"{label}: {key} must be text, not {type(value).__name__}"
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
    try:
        protocol = resolve(stated, origins)
    except ProtocolError as error:
        problems.append(str(error))
    if problems:
        raise ProtocolError("\n".join(problems))
    return Protocol(
        protocol.values_,
        protocol.origins,
        headers.get("name", ""),
        headers.get("title", ""),
        headers.get("source", ""),
        headers.get("notes", ""),
        tuple(open_),
        folder or Path(),
    )


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
    for number, here in _places(text):
        if here == key:
            return number
        if key.startswith(here + "."):
            best = number
    return best


@lru_cache(maxsize=1)  # every key of a file is looked up, one after the other
def _places(text: str) -> tuple[tuple[int, str], ...]:
    """The lines that open a table or set a key, with the dotted name of it."""
    table, found = "", []
    for number, line in enumerate(text.splitlines(), 1):
        if header := _TABLE.match(line):
            table = _plain(header[1]) + "."
            found.append((number, table.rstrip(".")))
        elif assignment := _KEY.match(line):
            found.append((number, table + _plain(assignment[1])))
    return tuple(found)


def _plain(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
