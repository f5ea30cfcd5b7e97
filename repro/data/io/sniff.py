"""Delimited text files: what the first lines say about a file, and its columns."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.data.io.compressed import open_stream
from repro.data.io.values import ROLES
from repro.errors import DataError, nearest

# What people call the four columns, the likeliest first; compared without case, blanks and punctuation.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "user": (
        *("user", "userid", "uid", "users", "usercode", "customer", "customerid", "reviewerid", "visitorid"),
        *("useridx", "userindex", "userno", "username", "member", "memberid", "reviewer", "accountid", "profileid"),
    ),
    "item": (
        *("item", "itemid", "iid", "items", "movie", "movieid", "artist", "artistid", "product", "productid"),
        *("book", "bookid", "isbn", "asin", "song", "songid", "track", "trackid", "businessid", "articleid"),
        *("sid", "itemidx", "itemindex", "itemno", "mid", "parentasin", "business", "article", "game", "gameid"),
        *("anime", "animeid", "joke", "jokeid", "recipe", "recipeid", "video", "videoid", "news", "newsid"),
        *("venue", "venueid", "locationid", "placeid", "restaurantid", "contentid"),
    ),
    "rating": (
        *("rating", "ratings", "score", "stars", "bookrating", "overall", "grade", "weight", "plays", "count"),
        *("rate", "preference", "playcount"),
    ),
    "timestamp": (
        *("timestamp", "time", "ts", "timestamps", "datetime", "date", "unixreviewtime"),
        *("unixtime", "unixtimestamp", "reviewtime"),
    ),
}
DELIMITERS = ("::", "\t", ";", ",", "|", " ")
# The delimiter of columns that stand apart by any number of blanks and tabs.
BLANKS = "blanks"
COMMENT = "#"
SKIPPED = "-"
LONGEST_LINE = 64 << 20
_SAMPLE = 50
_MARKS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars", " ": "single blanks", BLANKS: "white space"}

Columns = Mapping[str, str] | Sequence[str]


class WidthError(DataError):
    """The lines of a file do not have the columns of a table."""


class UnknownColumns(DataError):
    """It cannot be told which column of a file is which."""


@dataclass(frozen=True)
class Layout:
    """How a text file is written: delimiter, names of its columns in order, whether its first line is a header.

    comments  how many lines at its beginning are comments
    notes     what is to be known about how it is read
    """

    delimiter: str
    names: tuple[str, ...]
    header: bool
    encoding: str = "utf-8"
    quote: str = '"'
    escape: str = ""
    comments: int = 0
    notes: tuple[str, ...] = ()

    def described(self, chosen: Mapping[str, str]) -> list[str]:
        """What was assumed about the file and its columns, ``chosen`` being the name of each role, in words."""
        named = "with a header" if self.header else "without a header"
        mark = _MARKS.get(self.delimiter, repr(self.delimiter))
        names = [chosen[role] if self.header else f"column {self.names.index(chosen[role]) + 1}" for role in chosen]
        taken = ", ".join(f"{name} for {role}" for name, role in zip(names, chosen, strict=True))
        unused = [name for name in self.names if name and name not in chosen.values()] if self.header else []
        told = [f"text separated by {mark} {named}", f"taken are {taken}", *self.notes]
        return [*told, f"not used: {', '.join(unused)}"] if unused else told


def guess_layout(
    path: Path,
    delimiter: str | None,
    header: bool | None,
    columns: Columns | None,
    encoding: str,
    quote: str,
    escape: str,
) -> Layout:
    """The layout of a file from its first lines, wherever it is not stated."""
    comments, lines = _first_lines(path, encoding)
    if not lines:
        raise DataError(f"{path} is empty: a file of interactions has a row for each user and item")
    notes = [comments_told(len(comments))] if comments else []
    if quote == '"' and not any('"' in line for line in lines) and _is_quoted(lines[-1]):
        quote = "'"
    if delimiter is None:
        delimiter = _delimiter(lines, quote)
    rows = [split_line(line, delimiter, quote, escape) for line in lines]
    first, second = rows[0], rows[min(1, len(rows) - 1)]
    named = columns if isinstance(columns, Mapping) else {}
    if header is None:
        known = {plain_name(alias) for aliases in ALIASES.values() for alias in aliases}
        header = bool({plain_name(cell) for cell in first} & known or set(first) & set(named.values()))
        header = header or any(not _is_number(a) and _is_number(b) for a, b in zip(first, second, strict=False))
        if not header and not any(map(_is_number, first)):
            notes.append(
                f"the first line is taken for a row ({', '.join(first[:4])}); state header = true if it is names"
            )
    names, noted = _names(path, rows, header, delimiter)
    if columns is not None and not isinstance(columns, Mapping):
        names = _stated_names(path, columns, len(first))
    elif not header and (said := _names_in_comment(comments, len(names), delimiter, quote)):
        names, noted = said, [*noted, "the names of the columns are those of the last comment"]
    return Layout(delimiter, names, header, encoding, quote, escape, len(comments), (*notes, *noted))


def _first_lines(path: Path, encoding: str) -> tuple[list[str], list[str]]:
    """The comments at the beginning of a file, and the first lines after them."""
    lines = (line for _, line in lines_of(path, encoding) if line.strip())
    comments: list[str] = []
    for line in lines:
        if not line.lstrip().startswith(COMMENT):
            others = (one for one in lines if not one.lstrip().startswith(COMMENT))
            return comments, [line, *itertools.islice(others, _SAMPLE - 1)]
        comments.append(line)
        if len(comments) > _SAMPLE:  # ids may begin with that mark too
            break
    return [], comments[:_SAMPLE]


def _delimiter(lines: Sequence[str], quote: str) -> str:
    """The first mark of the first line that gives all lines the same number of columns, else the first mark.

    Blanks and tabs that do not, and single blanks that leave a column empty, are white space of any length.
    """
    marks = [mark for mark in DELIMITERS if mark in lines[0].strip()]
    apart = [line.split() for line in lines]
    even = len({len(cells) for cells in apart}) == 1 and len(apart[0]) > 1
    for mark in marks:
        rows = [split_line(line, mark, quote) for line in lines]
        if len({len(row) for row in rows}) > 1:
            continue
        empty = mark == " " and any(not cell for row in rows for cell in row)
        numbers = even and all(_is_number(cell) for cells in apart[1:] or apart for cell in cells)
        mixed = mark == "\t" and numbers and any(" " in cell for row in rows for cell in row)
        return BLANKS if even and (empty or mixed) else mark
    if even and any(mark in (" ", "\t") for mark in marks):
        return BLANKS
    return marks[0] if marks else ","


def _names(
    path: Path, rows: Sequence[Sequence[str]], header: bool, delimiter: str
) -> tuple[tuple[str, ...], list[str]]:
    """The names of the columns, as many as a row has, and what is to be known about them."""
    first, others = rows[0], rows[1:] or rows
    width = len(others[0])
    trailing = width > 2 and all(len(row) == width and not row[-1] for row in others)
    if header:
        names, notes = list(first), []
        if len(first) == width - 1 and trailing:
            names, notes = [*first, ""], ["a delimiter at the end of each row is passed over"]
        elif len(first) == width - 1 and _counts([row[0] for row in others]):
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
    return tuple(name if name != SKIPPED else f"column {place}" for place, name in enumerate(columns, 1))


def roles(
    names: Sequence[str],
    columns: Columns | None,
    label: str,
    aliases: Mapping[str, Sequence[str]] = ALIASES,
) -> dict[str, str]:
    """Which column plays which role, as stated in ``columns`` or by what people call it (``aliases``)."""
    stated = dict(columns) if isinstance(columns, Mapping) else {}
    for role in stated:
        if role not in aliases:
            raise DataError(f"columns: there is no '{role}'{nearest(role, aliases)} There are {', '.join(aliases)}")
    found: dict[str, str] = {}
    for role in aliases:
        if role in stated:
            if stated[role] in names:
                found[role] = stated[role]
            elif stated[role]:
                raise DataError(
                    f"{label} has no column '{stated[role]}' for {role}; "
                    f"it has {listed(names)}{nearest(stated[role], names)}"
                )
            continue
        plain = {plain_name(name): name for name in reversed(names)}
        alias = next((alias for alias in aliases[role] if alias in plain), None)
        if alias:
            found[role] = plain[alias]
    for role in ("user", "item"):
        if role not in found:
            raise UnknownColumns(
                f"{label} has no column '{role}'; it has {listed(names)}{nearest(role, names)} "
                "State which column is which with `columns`"
            )
    for role, name in found.items():
        if list(names).count(name) > 1:
            raise DataError(f"{label} has several columns called '{name}' for {role}; leave one of them")
    return found


def lines_of(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """The lines that are not empty, each with its number from 1; compressed files are read through."""
    with open_stream(path) as stream:
        pending, number = b"", 0
        while block := stream.read(1 << 20):
            *lines, pending = (pending + block).split(b"\n")
            if len(pending) > LONGEST_LINE:
                raise DataError(
                    f"{path}: line {number + len(lines) + 1:,} has more than {LONGEST_LINE >> 20} MiB; a line for each "
                    "row was expected"
                )
            for line in lines:
                number += 1
                if line.rstrip(b"\r"):
                    yield number, line.rstrip(b"\r").decode(encoding, errors="replace").lstrip("\ufeff")
        if pending.rstrip(b"\r"):
            yield number + 1, pending.rstrip(b"\r").decode(encoding, errors="replace").lstrip("\ufeff")


def split_line(line: str, delimiter: str, quote: str, escape: str = "") -> list[str]:
    """The cells of one line."""
    if delimiter == BLANKS:
        return [cell.strip(quote) if quote else cell for cell in line.split()]
    if len(delimiter) > 1 or not quote:
        return [cell.strip() for cell in line.split(delimiter)]
    options: dict[str, Any] = {"escapechar": escape, "doublequote": False} if escape else {}
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, quotechar=quote, **options))]
    except csv.Error:  # a lone carriage return, a field without end: the reader of the file says what is wrong
        return [cell.strip() for cell in line.split(delimiter)]


def _is_quoted(line: str) -> bool:
    """Whether a line begins with a cell in single quotes."""
    return re.match(r"\s*'[^']*'\s*(?:[^\w\s'(\[]|\s|$)", line) is not None


def comments_told(count: int) -> str:
    """That lines are comments, in words."""
    if count == 1:
        return f"1 line that begins with {COMMENT} is a comment"
    return f"{count:,} lines that begin with {COMMENT} are comments"


def listed(names: Sequence[str]) -> str:
    """Names of columns for a sentence: all of a table that somebody wrote, and the beginning of anything else."""
    told = ", ".join(name[:60] for name in names[:40])
    return told if len(names) <= 40 else f"{told} and {len(names) - 40:,} more"


def plain_name(name: str) -> str:
    """A name as it is compared: without case, blanks and punctuation."""
    return "".join(character for character in name.lower() if character.isalnum())


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
