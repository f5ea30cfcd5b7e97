"""Markdown from plain values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def cell(value: object) -> str:
    """Text for a cell of a table: one line, and no bar ends the cell."""
    return re.sub(r"\s+", " ", str(value)).strip().replace("|", "\\|")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown; a column whose name ends with a colon is aligned to the right."""
    rule = ["---:" if column.endswith(":") else "---" for column in columns]
    lines = [[column.rstrip(":") for column in columns], rule, *([cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def code(value: object) -> str:
    """A value as code, in a table or in text; a switch is written as in TOML."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    mark = "``" if "`" in text else "`"
    return f"{mark}{text}{mark}" if text else ""


def fence(text: str, language: str = "text") -> str:
    """A block of code; its fence is longer than any in the text."""
    mark = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text)), 3)
    return f"{mark}{language}\n{text.rstrip()}\n{mark}\n"


def escaped(text: str) -> str:
    """Text of the code in a page: placeholders in angle and square brackets are no markup, code stays code."""
    parts = re.split(r"(`[^`]*`)", text.replace("``", "`"))
    return "".join(part if part.startswith("`") else re.sub(r"([<\[\]*_])", r"\\\1", part) for part in parts)


def toctree(pages: Iterable[str], *, hidden: bool = True) -> str:
    """The pages below a page, for the navigation; each is a path seen from that page."""
    names = [page.removesuffix(".md") for page in pages]
    return "\n".join(["```{toctree}", *([":hidden:"] if hidden else []), "", *names, "```", ""])
