"""The layout of a delimited text file, as stated or guessed from its first lines: delimiter, header, columns."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.data.io.compressed import lines_of
from repro.data.io.formats import empty_file
from repro.data.io.options import ReadOptions
from repro.data.io.roles import ALIASES, plain_name
from repro.data.io.values import ROLES, is_number
from repro.errors import DataError

DELIMITERS = ("::", "\t", ";", ",", "|", " ")
# The delimiter of columns with any number of blanks and tabs between them.
BLANKS = "blanks"
COMMENT = "#"
_SKIPPED = "-"
_SAMPLE = 50
DELIMITER_NAMES = {
    "::": "'::'",
    "\t": "tabs",
    ";": "semicolons",
    ",": "commas",
    "|": "bars",
    " ": "single blanks",
    BLANKS: "white space",
}


class WidthError(DataError):
    """The lines of a file have different numbers of columns."""


@dataclass(frozen=True)
class Layout:
    """The layout of a text file: delimiter, names of its columns in order, whether its first line is a header.

    comments  the number of comment lines above the table
    notes     assumptions that people should know about
    """

    delimiter: str
    names: tuple[str, ...]
    header: bool
    encoding: str = "utf-8"
    quote: str = '"'
    escape: str = ""
    comments: int = 0
    notes: tuple[str, ...] = ()

    def describe(self, chosen: Mapping[str, str]) -> list[str]:
        """The assumptions made about the file; ``chosen`` has the name of the column for each role."""
        header = "with a header" if self.header else "without a header"
        delimiter = DELIMITER_NAMES.get(self.delimiter, repr(self.delimiter))
        shown = {role: name if self.header else f"column {self.names.index(name) + 1}" for role, name in chosen.items()}
        unused = [name for name in self.names if name and name not in chosen.values()] if self.header else []
        notes = [f"text separated by {delimiter} {header}", columns_note(shown), *self.notes]
        return [*notes, f"not used: {', '.join(unused)}"] if unused else notes


def columns_note(chosen: Mapping[str, str]) -> str:
    """A sentence about the column that is read for each role."""
    return f"taken are {', '.join(f'{name} for {role}' for role, name in chosen.items())}"


def guess_layout(path: Path, options: ReadOptions) -> Layout:
    """The layout of a file: as stated in the options, otherwise guessed from its first lines."""
    comments, lines = _first_lines(path, options.encoding)
    if not lines:
        raise empty_file(path)
    notes = [comments_note(len(comments))] if comments else []
    quote, escape = options.quote, options.escape
    if quote == '"' and not any('"' in line for line in lines) and _is_quoted(lines[-1]):
        quote = "'"
    delimiter = options.delimiter if options.delimiter is not None else guess_delimiter(lines, quote)
    rows = [split_line(line, delimiter, quote, escape) for line in lines]
    first, second = rows[0], rows[min(1, len(rows) - 1)]
    header, columns = options.header, options.columns
    if header is None:
        stated = set(columns.values()) if isinstance(columns, Mapping) else set()
        known = {alias for aliases in ALIASES.values() for alias in aliases}
        header = bool({plain_name(cell) for cell in first} & known or set(first) & stated)
        header = header or any(not is_number(a) and is_number(b) for a, b in zip(first, second, strict=False))
        if not header and not any(map(is_number, first)):
            notes.append(
                f"the first line is taken for a row ({', '.join(first[:4])}); state header = true if it is names"
            )
    names, name_notes = _names(path, rows, header, delimiter)
    if columns is not None and not isinstance(columns, Mapping):
        names = _stated_names(path, columns, len(first))
    elif not header and (named := _names_in_comment(comments, len(names), delimiter, quote)):
        names, name_notes = named, [*name_notes, "the names of the columns are those of the last comment"]
    return Layout(delimiter, names, header, options.encoding, quote, escape, len(comments), (*notes, *name_notes))


def _first_lines(path: Path, encoding: str) -> tuple[list[str], list[str]]:
    """The comments at the beginning of a file, and the first lines after them."""
    lines = (line for _, line in lines_of(path, encoding) if line.strip())
    comments: list[str] = []
    for line in lines:
        if not line.lstrip().startswith(COMMENT):
            rows = (row for row in lines if not row.lstrip().startswith(COMMENT))
            return comments, [line, *itertools.islice(rows, _SAMPLE - 1)]
        comments.append(line)
        if len(comments) > _SAMPLE:  # ids may begin with this character too
            break
    return [], comments[:_SAMPLE]


def guess_delimiter(lines: Sequence[str], quote: str, delimiters: Sequence[str] = DELIMITERS) -> str:
    """The first delimiter in the first line that gives all lines the same number of columns, else the first one.

    Where blanks and tabs do not, or single blanks leave a cell empty, any amount of white space may (``BLANKS``).
    """
    present = [delimiter for delimiter in delimiters if delimiter in lines[0].strip()]
    words = [line.split() for line in lines]
    even = " " in delimiters and len({len(cells) for cells in words}) == 1 and len(words[0]) > 1
    for delimiter in present:
        rows = [split_line(line, delimiter, quote) for line in lines]
        if len({len(row) for row in rows}) > 1:
            continue
        empty = delimiter == " " and any(not cell for row in rows for cell in row)
        numbers = even and all(is_number(cell) for cells in words[1:] or words for cell in cells)
        mixed = delimiter == "\t" and numbers and any(" " in cell for row in rows for cell in row)
        return BLANKS if even and (empty or mixed) else delimiter
    if even and any(delimiter in (" ", "\t") for delimiter in present):
        return BLANKS
    return present[0] if present else ","


def _names(
    path: Path, rows: Sequence[Sequence[str]], header: bool, delimiter: str
) -> tuple[tuple[str, ...], list[str]]:
    """The names of the columns, as many as a row has, and notes about them."""
    first, body = rows[0], rows[1:] or rows
    width = len(body[0])
    trailing = width > 2 and all(len(row) == width and not row[-1] for row in body)
    if header:
        names, notes = list(first), []
        if len(first) == width - 1 and trailing:
            names, notes = [*first, ""], ["a delimiter at the end of each row is passed over"]
        elif len(first) == width - 1 and _counts([row[0] for row in body]):
            names, notes = ["", *first], ["the first column of the rows has no name and is passed over"]
        elif not first[0] or plain_name(first[0]).startswith("unnamed"):
            notes = ["the first column has no name and is passed over"]
        return tuple(names), notes
    if trailing:
        names = [*_names_without_header(path, width - 1, delimiter), ""]
        return tuple(names), ["a delimiter at the end of each row is passed over"]
    return _names_without_header(path, len(first), delimiter), []


def _counts(cells: Sequence[str]) -> bool:
    """Whether the cells count the rows, from 0 or 1."""
    return any(list(cells) == [str(n) for n in range(start, start + len(cells))] for start in (0, 1))


def _names_in_comment(comments: Sequence[str], width: int, delimiter: str, quote: str) -> tuple[str, ...] | None:
    """The names of the columns in the last comment above the rows, where it has as many, and user and item."""
    if not comments:
        return None
    cells = split_line(comments[-1].strip().lstrip(COMMENT).strip(), delimiter, quote)
    plain = {plain_name(cell) for cell in cells}
    both = all(plain & set(ALIASES[role]) for role in ("user", "item"))
    return tuple(cells) if both and len(cells) == width else None


def _names_without_header(path: Path, count: int, delimiter: str) -> tuple[str, ...]:
    if 2 <= count <= len(ROLES):
        return ROLES[:count]
    if count == 1:
        raise WidthError(
            f"{path}: the first line has a single column when split at {delimiter!r}, "
            "but user and item are needed; state the delimiter"
        )
    return tuple(f"column {position}" for position in range(1, count + 1))


def _stated_names(path: Path, columns: Sequence[str], count: int) -> tuple[str, ...]:
    if len(columns) != count:
        raise DataError(
            f"{path}: {len(columns)} columns are stated ({', '.join(columns)}), but the first line has {count}"
        )
    return tuple(name if name != _SKIPPED else f"column {place}" for place, name in enumerate(columns, 1))


def split_line(line: str, delimiter: str, quote: str, escape: str = "") -> list[str]:
    """The cells of one line."""
    if delimiter == BLANKS:
        return [cell.strip(quote) if quote else cell for cell in line.split()]
    if len(delimiter) > 1 or not quote:
        return [cell.strip() for cell in line.split(delimiter)]
    options: dict[str, Any] = {"escapechar": escape, "doublequote": False} if escape else {}
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, quotechar=quote, **options))]
    except csv.Error:  # a lone carriage return, a quote without end: reading the file reports it
        return [cell.strip() for cell in line.split(delimiter)]


def _is_quoted(line: str) -> bool:
    """Whether a line begins with a cell in single quotes."""
    return re.match(r"\s*'[^']*'\s*(?:[^\w\s'(\[]|\s|$)", line) is not None


def comments_note(count: int) -> str:
    """A note about lines that are comments."""
    if count == 1:
        return f"1 line that begins with {COMMENT} is a comment"
    return f"{count:,} lines that begin with {COMMENT} are comments"
