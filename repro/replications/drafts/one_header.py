"""Printed tables with one header, with notes on everything that was dropped or interpreted."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from repro.errors import StudyError
from repro.replications.claims.keys import NUMBERS
from repro.replications.drafts.sources import printed_tables

_MARK = re.compile(r"\^\{?[^{}\s]*\}?|\\(dagger|ddagger|ast|star)\b|[*†‡]+$")
_SPREAD = re.compile(r"(±|\\pm|\+/-|\+-).*$|\(\s*[\d.,]+\s*\)$")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)*|[.,]\d+)\s*%?")


@dataclass(frozen=True)
class PrintedTable:
    """A table with a header: the names of its columns, and rows of a label and printed numbers.

    notes   what was dropped or interpreted, to be checked against the source
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    notes: tuple[str, ...] = ()


def read_table(path: str | Path) -> PrintedTable:
    """Read the first table in a file: LaTeX, Markdown, or text with commas, tabs or semicolons."""
    return _table(Path(path), printed_tables(path)[0].rows)


def _table(path: Path, rows: Sequence[Sequence[str]]) -> PrintedTable:
    """Rows with a number are the body; the last row above them that names a column is the header."""
    body = [row for row in rows if any(_is_number(cell) for cell in row[1:])]
    if not body:
        raise StudyError(f"{path} has no row with a label and a number; expected a table with a row for each algorithm")
    first = next(position for position, row in enumerate(rows) if row is body[0])
    # The label columns are those before the first column with a number in any row.
    wide = min(next(n for n, cell in enumerate(row) if n and _is_number(cell)) for row in body)
    header = next((row for row in reversed(rows[:first]) if any(row[wide:])), None)
    if header is None:
        raise StudyError(f"{path} has no header above its numbers; the first row must name the metrics")
    used = {id(row) for row in (header, *body)}
    notes = [f"dropped a row without numbers: {' | '.join(row)}" for row in rows if any(row) and id(row) not in used]
    columns = tuple(header[wide:])
    rows_by_label: dict[str, tuple[str, ...]] = {}
    above = [""] * wide
    for row in body:
        # An empty cell belongs to a cell above that spans several rows.
        above = [cell or before for cell, before in zip(row[:wide], above, strict=False)]
        label = _label(" ".join(filter(None, above)), rows_by_label, notes)
        numbers = [_number(cell, f"{label}, {name}", notes) for name, cell in zip(columns, row[wide:], strict=False)]
        if len(row) - wide != len(columns):
            notes.append(f"the row of {label} has {len(row) - wide} numbers, and the header has {len(columns)}")
        rows_by_label[label] = tuple(numbers + ["-"] * (len(columns) - len(numbers)))
    return PrintedTable(columns, tuple(rows_by_label.items()), tuple(dict.fromkeys(notes)))


def _label(text: str, used: Collection[str], notes: list[str]) -> str:
    """A valid label for a claim: one line, without a slash, and unique."""
    label = re.sub(r"[/\x00-\x1f]", "-", _MARK.sub("", text).strip()) or "row"
    number, name = 2, label
    while name in used or name in NUMBERS.keys:
        name, number = f"{label} ({number})", number + 1
    if name != text:
        notes.append(f"the row '{text}' was renamed to '{name}'")
    return name


def _is_number(cell: str) -> bool:
    return bool(_NUMBER.fullmatch(_bare(cell)))


def _bare(cell: str) -> str:
    return _MARK.sub("", _SPREAD.sub("", cell).strip()).strip()


def _number(cell: str, where: str, notes: list[str]) -> str:
    """A printed number in the form of a claim, or a dash if the cell has none; ``notes`` receives every change."""
    bare = _bare(cell)
    if bare in ("", "-", "–", "—", "--", "n/a", "N/A"):
        return "-"
    if not _NUMBER.fullmatch(bare):
        notes.append(f"{where}: '{cell}' is not a number and was left out")
        return "-"
    if _SPREAD.search(cell):
        notes.append(f"{where}: the spread in '{cell}' was dropped; it may serve as the tolerance")
    if "%" in bare:
        notes.append(f"{where}: '{bare}' is a percentage, so {bare} of 1")
    decimal_comma = re.fullmatch(r"([+-]?\d*),(\d+)\s*%?", bare)
    thousands = re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+\s*%?", bare)
    if decimal_comma and not thousands:
        notes.append(f"{where}: the comma in '{bare}' was read as a decimal point")
        return bare.replace(",", ".")
    return bare
