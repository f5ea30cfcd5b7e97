"""Docstrings for Sphinx: aligned lists of names and their meaning become lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A name at the left edge, or several; its meaning after two blanks or more, and in further lines that are indented.
ENTRY = re.compile(r"^(?P<names>[`\w*\"][\w`*., \"\[\]()=-]*?)(?:\s{2,}(?P<text>\S.*))?$")


def as_lists(app: object, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Change ``lines`` in place: each block of aligned entries, of which one has its meaning in the same line."""
    blocks = list(_blocks(lines))
    lines[:] = [line for block in blocks for line in (*_changed(_plain(block)), "")]


def _plain(block: list[str]) -> list[str]:
    """A block whose stars and bars are no markup, unless it is an example or a formula."""
    if block[0].startswith((">>>", " ", ":", "..")):
        return block
    parts = [re.split(r"(``.*?``)", line) for line in block]
    return [
        "".join(part if part.startswith("``") else re.sub(r"([*|])", r"\\\1", part) for part in line) for line in parts
    ]


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def _changed(block: list[str]) -> list[str]:
    entries: list[tuple[str, list[str]]] = []
    for line in block:
        if entries and line.startswith("  "):
            entries[-1][1].append(line.strip())
        elif (match := ENTRY.match(line)) and (match["text"] or re.fullmatch(r"[\w`*]+(, [\w`*]+)*", match["names"])):
            entries.append((match["names"], [match["text"]] if match["text"] else []))
        else:
            return block
    aligned = all(texts for _, texts in entries) and any(re.match(r"\S+(?:, \S+)*\s{2,}\S", line) for line in block)
    if not aligned:
        return block
    return [part for names, texts in entries for part in (f"* {_names(names)}: {' '.join(texts)}",)]


def _names(names: str) -> str:
    return ", ".join(f"``{name.strip('` ')}``" for name in names.split(",") if name.strip())
