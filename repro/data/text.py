"""Delimited text files: what the first lines say about a file, and its columns."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from repro.data.columns import ROLES, Values
from repro.errors import DataError, nearest

# What people call the four columns, the likeliest first; compared without case, blanks and punctuation.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "users", "usercode", "customer", "customerid", "reviewerid", "visitorid"),
    "item": (
        *("item", "itemid", "iid", "items", "movie", "movieid", "artist", "artistid", "product", "productid"),
        *("book", "bookid", "isbn", "asin", "song", "songid", "track", "trackid", "businessid", "articleid"),
    ),
    "rating": (
        "rating",
        "ratings",
        "score",
        "stars",
        "bookrating",
        "overall",
        "grade",
        "weight",
        "plays",
        "count",
    ),
    "timestamp": ("timestamp", "time", "ts", "timestamps", "datetime", "date", "unixreviewtime"),
}
DELIMITERS = ("::", "\t", ";", ",", "|", " ")
SKIPPED = "-"

Columns = Mapping[str, str] | Sequence[str]


@dataclass(frozen=True)
class Layout:
    """How a text file is written: delimiter, names of its columns in order, whether its first line is a header."""

    delimiter: str
    names: tuple[str, ...]
    header: bool
    encoding: str = "utf-8"
    quote: str = '"'
    escape: str = ""


def guess_layout(
    path: Path,
    delimiter: str | None,
    header: bool | None,
    columns: Columns | None,
    encoding: str,
    quote: str,
    escape: str,
) -> Layout:
    """The layout of a file from its first two lines, wherever it is not stated."""
    lines = list(itertools.islice((line for _, line in lines_of(path, encoding)), 2))
    if not lines:
        raise DataError(f"{path} is empty: a file of interactions has a row for each user and item")
    if delimiter is None:
        delimiter = next((mark for mark in DELIMITERS if mark in lines[0]), ",")
    first, second = split_line(lines[0], delimiter, quote), split_line(lines[-1], delimiter, quote)
    named = columns if isinstance(columns, Mapping) else {}
    if header is None:
        known = {_plain(alias) for aliases in ALIASES.values() for alias in aliases}
        header = bool({_plain(cell) for cell in first} & known or set(first) & set(named.values()))
        header = header or any(not _is_number(a) and _is_number(b) for a, b in zip(first, second, strict=False))
    names = tuple(first) if header else _names_without_header(path, len(first), delimiter)
    if columns is not None and not isinstance(columns, Mapping):
        names = _stated_names(path, columns, len(first))
    return Layout(delimiter, names, header, encoding, quote, escape)


def _names_without_header(path: Path, count: int, delimiter: str) -> tuple[str, ...]:
    if 2 <= count <= len(ROLES):
        return ROLES[:count]
    if count == 1:
        raise DataError(
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
                    f"it has {', '.join(names)}{nearest(stated[role], names)}"
                )
            continue
        plain = {_plain(name): name for name in reversed(names)}
        alias = next((alias for alias in aliases[role] if alias in plain), None)
        if alias:
            found[role] = plain[alias]
    for role in ("user", "item"):
        if role not in found:
            raise DataError(
                f"{label} has no column '{role}'; it has {', '.join(names)}{nearest(role, names)} "
                "State which column is which with `columns`"
            )
    for role, name in found.items():
        if list(names).count(name) > 1:
            raise DataError(f"{label} has several columns called '{name}' for {role}; leave one of them")
    return found


def read_columns(
    path: Path, layout: Layout, chosen: Mapping[str, str], as_text: Sequence[str] = ("user", "item")
) -> dict[str, Values]:
    """The chosen columns: those in ``as_text`` as categories of their text, the others as numbers where they are."""
    types: dict[str, pa.DataType] = {}
    for role, name in chosen.items():
        types[name] = pa.dictionary(pa.int32(), pa.string()) if role in as_text else pa.float64()
    if "timestamp" in chosen:
        types[chosen["timestamp"]] = pa.int64()
    wanted = list(chosen.values())
    try:
        table = _parse(path, layout, types, wanted)
    except pa.ArrowInvalid as error:
        if "columns, got" in str(error):
            raise _wrong_width(path, layout) from None
        # A value is not a number: read as text, so that the border can name it (or read it as a date).
        types = {chosen[role]: types[chosen[role]] for role in as_text if role in chosen}
        table = _parse(path, layout, {**dict.fromkeys(wanted, pa.string()), **types}, wanted)
    return {role: column_values(table.column(name)) for role, name in chosen.items()}


def _parse(path: Path, layout: Layout, types: dict[str, pa.DataType], wanted: list[str]) -> pa.Table:
    parse = pacsv.ParseOptions(
        delimiter=layout.delimiter if len(layout.delimiter) == 1 else "\t",
        quote_char=layout.quote or False,
        escape_char=layout.escape or False,
    )
    read = pacsv.ReadOptions(
        column_names=list(layout.names),
        skip_rows=_lines_to_skip(path, layout),
        encoding=layout.encoding,
        block_size=1 << 24,
    )
    convert = pacsv.ConvertOptions(column_types=types, include_columns=wanted, strings_can_be_null=False)
    with pa.input_stream(str(path), compression="detect") as source:
        if len(layout.delimiter) > 1:  # Arrow splits at one character only
            content = source.read()
            if b"\t" in content:
                raise DataError(f"{path}: a file with the delimiter {layout.delimiter!r} cannot have tabs in it")
            source = pa.BufferReader(content.replace(layout.delimiter.encode(layout.encoding), b"\t"))
        try:
            return pacsv.read_csv(source, read_options=read, parse_options=parse, convert_options=convert)
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                raise DataError(f"{path} has a header and no rows: nothing to evaluate") from None
            if "invalid UTF8" in str(error):
                raise DataError(
                    f"{path} is not {layout.encoding} text; state its encoding, often encoding='latin-1'"
                ) from None
            raise


def _lines_to_skip(path: Path, layout: Layout) -> int:
    if not layout.header:
        return 0
    return next(number for number, _ in lines_of(path, layout.encoding))


def column_values(column: pa.ChunkedArray) -> Values:
    """A column for the border: text as categories, times and numbers as NumPy arrays."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.dictionary_encode()
    if not pa.types.is_dictionary(column.type):
        return column.to_pandas().to_numpy()
    if not column.num_chunks:
        return np.array([], dtype=object)
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    text = whole.dictionary.cast(pa.string())
    trimmed = pc.utf8_trim_whitespace(text).to_numpy(zero_copy_only=False)
    kept, names = pd.factorize(trimmed)  # "7" and " 7" are the same id
    codes = whole.indices.fill_null(-1).to_numpy()
    codes = np.where(codes < 0, -1, kept[codes])
    return pd.Categorical.from_codes(codes, pd.Index(names, dtype=object))  # type: ignore[arg-type]


def _wrong_width(path: Path, layout: Layout) -> DataError:
    for number, line in lines_of(path, layout.encoding):
        cells = split_line(line, layout.delimiter, layout.quote, layout.escape)
        if len(cells) != len(layout.names):
            return DataError(
                f"{path}: line {number:,} has {len(cells)} columns where {len(layout.names)} were expected "
                f"({', '.join(layout.names)}): {line[:80]!r}; correct the line, or state the delimiter"
            )
    return DataError(f"{path}: some lines have more or fewer than {len(layout.names)} columns")


def line_number(path: Path, layout: Layout, row: int) -> str:
    """The line of the file on which data row ``row`` (from 0) stands; blank lines are no rows."""
    rows = lines_of(path, layout.encoding)
    number, _ = next(itertools.islice(rows, row + layout.header, None))
    return f"line {number:,}"


def lines_of(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """The lines that are not empty, each with its number from 1; compressed files are read through."""
    with pa.input_stream(str(path), compression="detect") as stream:
        pending, number = b"", 0
        while block := stream.read(1 << 20):
            *lines, pending = (pending + block).split(b"\n")
            for line in lines:
                number += 1
                if line.rstrip(b"\r"):
                    yield number, line.rstrip(b"\r").decode(encoding, errors="replace").lstrip("\ufeff")
        if pending.rstrip(b"\r"):
            yield number + 1, pending.rstrip(b"\r").decode(encoding, errors="replace").lstrip("\ufeff")


def split_line(line: str, delimiter: str, quote: str, escape: str = "") -> list[str]:
    """The cells of one line."""
    if len(delimiter) > 1 or not quote:
        return [cell.strip() for cell in line.split(delimiter)]
    options: dict[str, Any] = {"escapechar": escape, "doublequote": False} if escape else {}
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, quotechar=quote, **options))]
    except csv.Error:  # a lone carriage return, a field without end: the reader of the file says what is wrong
        return [cell.strip() for cell in line.split(delimiter)]


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
