"""Files of interactions: delimited text, a line for each user, JSON, Parquet, RecBole atomic files, TREC qrels."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from repro.data.interactions import Interactions
from repro.data.io.compressed import inner_name, open_stream
from repro.data.io.delimited import column_values, line_number, read_columns
from repro.data.io.parquet import read_parquet
from repro.data.io.sniff import (
    ALIASES,
    Columns,
    Layout,
    WidthError,
    comments_told,
    guess_layout,
    lines_of,
    plain_name,
    roles,
)
from repro.data.io.user_lines import Entry, are_lists, load_json, read_lists
from repro.data.io.values import ROLES, Values, data_row, id_text, interactions_from_columns
from repro.errors import DataError, nearest

FORMATS = ("text", "lists", "json", "parquet", "recbole", "qrels")
_SUFFIXES = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".qrels", ".qrel"), "qrels"),
    ".inter": "recbole",
}
_SPELLINGS = {
    **dict.fromkeys(("csv", "tsv", "dat", "txt"), "text"),
    **dict.fromkeys(("jsonl", "ndjson"), "json"),
    "inter": "recbole",
    "trec": "qrels",
}

Where = Callable[[int], str]


@dataclass(frozen=True)
class Reading:
    """The interactions of a file, in which form it was taken to be, and all that was assumed, in words."""

    interactions: Interactions
    format: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Table:
    """The columns of a file, where each row stands, and what was assumed."""

    values: Mapping[str, Values]
    where: Where
    notes: Sequence[str] = ()
    format: str = "text"


def read_interactions(
    path: str | os.PathLike[str],
    format: str | None = None,
    columns: Columns | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    *,
    encoding: str = "utf-8",
    quote: str = '"',
    escape: str = "",
    time_format: str | None = None,
    empty_ids: str = "error",
) -> Interactions:
    """Interactions from a file of the user's own; what is not stated is guessed from suffix and first lines.

    ``format`` is one of ``text``, ``lists`` (a line for each user: the user, then items), ``json``, ``parquet``,
    ``recbole`` and ``qrels``. ``columns`` maps ``user``, ``item``, ``rating`` and ``timestamp`` to the names in the
    file (an empty name leaves the column out), or names the columns of a text file in order, ``-`` for one to pass
    over. ``time_format`` reads dates that are not ISO 8601 (``%m/%d/%Y``). ``empty_ids`` is ``error``, or ``drop`` to
    leave out rows without a user or item.
    """
    return read_told(
        path,
        format,
        columns,
        delimiter,
        header,
        encoding=encoding,
        quote=quote,
        escape=escape,
        time_format=time_format,
        empty_ids=empty_ids,
    ).interactions


def read_told(
    path: str | os.PathLike[str],
    format: str | None = None,
    columns: Columns | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    *,
    encoding: str = "utf-8",
    quote: str = '"',
    escape: str = "",
    time_format: str | None = None,
    empty_ids: str = "error",
) -> Reading:
    """As :func:`read_interactions`, with what was assumed to read the file."""
    file = existing_file(path)
    if empty_ids not in ("error", "drop"):
        raise DataError(f"empty_ids is '{empty_ids}'; it may be 'error' or 'drop'")
    if not file.stat().st_size:
        raise DataError(f"{file} is empty: a file of interactions has a row for each user and item")
    _require_encoding(encoding)
    if delimiter == "" or len(quote) > 1 or len(escape) > 1:
        raise DataError(
            f"delimiter {delimiter!r}, quote {quote!r}, escape {escape!r}: a delimiter has at least one character, "
            "the others at most one"
        )
    try:
        match _format_of(file, format):
            case "parquet":
                table = _read_parquet(file, columns)
            case "qrels":
                table = _read_qrels(file, encoding)
            case "recbole":
                table = _read_recbole(file, columns, encoding)
            case "json":
                table = _read_json(file, columns)
            case "lists":
                table = _read_lists(file, encoding)
            case _ if columns is None and delimiter is None and not header:
                table = _read_unstated(file, header, encoding, quote, escape)
            case _:
                table = _read_text(
                    file, guess_layout(file, delimiter, header, columns, encoding, quote, escape), columns
                )
    except (OSError, pa.ArrowInvalid) as error:  # Arrow's readers raise these for a damaged compressed file too
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"cannot read {file} ({reason}); if it is damaged or cut short, copy it again") from None
    notes = list(table.notes)
    if empty_ids == "drop":
        table = replace(table, values=_without_empty_ids(table.values), where=data_row)
    found = interactions_from_columns(table.values, str(file), where=table.where, time_format=time_format)
    for noun, ids in (("user", found.user_ids), ("item", found.item_ids)):
        notes.append(f"{noun} ids are {'whole numbers' if ids.dtype.kind == 'i' else 'text'}")
    return Reading(found, table.format, tuple(notes))


def existing_file(path: str | os.PathLike[str]) -> Path:
    """The file at ``path``, which must be there."""
    file = Path(path)
    if not file.is_file():
        if file.exists():
            raise DataError(f"{file} is not a file" + (" but a folder; name the file in it" if file.is_dir() else ""))
        beside = [other.name for other in file.parent.iterdir()] if file.parent.is_dir() else []
        raise DataError(f"there is no file {file}{nearest(file.name, beside)}")
    return file


def _require_encoding(encoding: str) -> None:
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise DataError(f"there is no encoding '{encoding}'; common ones are utf-8, latin-1 and utf-16") from None


def _format_of(file: Path, stated: str | None) -> str:
    if stated is not None:
        name = _SPELLINGS.get(stated, stated)
        if name not in FORMATS:
            raise DataError(
                f"there is no format '{stated}'{nearest(stated, FORMATS)} The formats are {', '.join(FORMATS)}"
            )
        return name
    suffix = Path(inner_name(file)).suffix.lower()
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    with open_stream(file) as stream:
        start = stream.read(4096)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"["):
        return "json"
    first = start.partition(b"\n")[0]
    return "recbole" if b":token" in first and b"\t" in first else "text"


def _read_text(file: Path, layout: Layout, columns: Columns | None) -> _Table:
    chosen = roles(layout.names, columns, str(file))
    comments: list[str] = []
    values = read_columns(file, layout, chosen, left_out=comments)
    notes = layout.described(chosen)
    if comments:
        notes.append(f"{comments_told(len(comments))} among the rows, the first {' '.join(comments[0].split())[:40]!r}")
    return _Table(values, partial(line_number, file, layout), notes)


def _read_unstated(file: Path, header: bool | None, encoding: str, quote: str, escape: str) -> _Table:
    """A text file about which nothing is stated: a table, or a line for each user."""
    wide = False
    try:
        layout = guess_layout(file, None, header, None, encoding, quote, escape)
        wide = not layout.header and len(layout.names) > len(ROLES)
        return _read_text(file, layout, None)
    except DataError as error:
        uneven = wide or isinstance(error, WidthError)
        if not uneven or not are_lists(read_lists(file, encoding).entries):
            raise
        return _read_lists(file, encoding)


def _read_lists(file: Path, encoding: str) -> _Table:
    """A line for each user: the user, then items."""
    lists = read_lists(file, encoding)
    notes = [*lists.notes, "each line is a user and its items", *_without_items(lists.entries)]
    return _Table(*_rows_of(lists.entries), notes, "lists")


def _rows_of(entries: Sequence[Entry]) -> tuple[dict[str, Values], Where]:
    listed = [(entry, item) for entry in entries for item in entry.items]
    users = np.array([entry.user for entry, _ in listed], dtype=object)
    items = np.array([item for _, item in listed], dtype=object)
    return {"user": users, "item": items}, lambda row: listed[row][0].place


def _without_items(entries: Sequence[Entry]) -> list[str]:
    alone = [entry for entry in entries if not entry.items]
    said = f"{len(alone):,} users have no items in their lines"
    return [f"{said}, the first in {alone[0].place}"] if alone else []


def _read_json(file: Path, columns: Columns | None) -> _Table:
    """JSON: records, columns, rows, ``{user: {item: rating}}`` or ``{user: [items]}``; or lines of one of these."""
    found = load_json(file)
    if isinstance(found, dict) and any(not isinstance(value, list | dict) for value in found.values()):
        found = [found]  # one record
    values: dict[str, Values]
    if _are(found, dict) and not any(isinstance(value, list | dict) for row in found for value in row.values()):
        values, notes = _chosen(pd.DataFrame(found), columns, file)
    elif _are(found, list) and {len(row) for row in found} <= {2, 3, 4} and len({len(row) for row in found}) == 1:
        rows = np.array([[id_text(cell) for cell in row] for row in found], dtype=object)
        values, notes = dict(zip(ROLES, rows.T, strict=False)), [f"taken are {', '.join(ROLES[: rows.shape[1]])}"]
    elif isinstance(found, dict) and _has_columns(found):
        values, notes = _chosen(pd.DataFrame(found), columns, file)
    elif isinstance(found, dict) and found and all(_rated(inner) for inner in found.values()):
        rated = [(user, item, rating) for user, inner in found.items() for item, rating in inner.items()]
        parts = [np.array(part, dtype=object) for part in zip(*rated, strict=True)]
        values, notes = dict(zip(ROLES, parts, strict=False)), ["{user: {item: rating}}"]
    else:
        lists = read_lists(file)
        if any(entry.target is not None for entry in lists.entries):
            raise DataError(f"{file} has items for pairs of a user and an item, and a user and its items were expected")
        values, _ = _rows_of(lists.entries)
        notes = ["each entry is a user and its items", *_without_items(lists.entries)]
        return _Table(values, data_row, ["JSON", *notes], "lists")
    return _Table(values, data_row, ["JSON", *notes], "json")


def _are(found: object, kind: type) -> bool:
    return isinstance(found, list) and bool(found) and all(isinstance(row, kind) for row in found)


def _rated(inner: object) -> bool:
    return isinstance(inner, dict) and all(isinstance(value, int | float) for value in inner.values())


def _has_columns(found: Mapping[str, Any]) -> bool:
    """Whether the names in a document are those of columns."""
    plain = {plain_name(name) for name in found}
    same = len({len(column) for column in found.values() if isinstance(column, list)}) == 1
    return same and all(plain & set(ALIASES[role]) for role in ("user", "item"))


def _chosen(frame: pd.DataFrame, columns: Columns | None, file: Path) -> tuple[dict[str, Values], list[str]]:
    chosen = roles([str(name) for name in frame.columns], columns, str(file))
    taken = ", ".join(f"{name} for {role}" for role, name in chosen.items())
    return {role: frame[name].to_numpy() for role, name in chosen.items()}, [f"taken are {taken}"]


def _read_recbole(file: Path, columns: Columns | None, encoding: str) -> _Table:
    """RecBole's atomic files: tab-separated, each header cell ``name:type``."""
    layout = guess_layout(file, "\t", True, None, encoding, "", "")
    names = tuple(name.partition(":")[0] for name in layout.names)
    if not any(":" in name for name in layout.names):
        raise DataError(
            f"{file}: a RecBole atomic file begins with a header such as "
            f"'user_id:token<tab>item_id:token<tab>rating:float', not {' '.join(layout.names)[:60]!r}"
        )
    table = _read_text(file, replace(layout, names=names), columns)
    return replace(table, notes=["RecBole atomic file", *table.notes], format="recbole")


def _read_parquet(file: Path, columns: Columns | None) -> _Table:
    try:
        chosen = roles(pq.read_schema(file).names, columns, str(file))
        table = read_parquet(file, list(chosen.values()))
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(
            f"{file} is not a complete Parquet file ({reason}); it may be cut short: write or copy it again"
        ) from None
    taken = ", ".join(f"{name} for {role}" for role, name in chosen.items())
    values = {role: column_values(table.column(name)) for role, name in chosen.items()}
    return _Table(values, data_row, ["Parquet", f"taken are {taken}"], "parquet")


def _read_qrels(file: Path, encoding: str) -> _Table:
    """TREC relevance judgements: user, a column that is not used, item and grade, split at blanks."""
    numbers, rows = [], []
    for number, line in lines_of(file, encoding):
        cells = line.split()
        if not cells:
            continue
        if len(cells) != 4:
            raise DataError(
                f"{file}: line {number:,} has {len(cells)} columns where 4 were expected "
                f"(user, 0, item, grade): {line[:80]!r}"
            )
        numbers.append(number)
        rows.append(cells)
    if not rows:
        raise DataError(f"{file} is empty: a file of judgements has lines such as 'user 0 item grade'")
    users, _, items, grades = (np.array(column, dtype=object) for column in zip(*rows, strict=True))
    values = {"user": users, "item": items, "rating": grades}
    return _Table(values, lambda row: f"line {numbers[row]:,}", ["TREC qrels: user, a column passed over, item, grade"])


def _without_empty_ids(values: Mapping[str, Values]) -> dict[str, Values]:
    kept = np.ones(len(values["user"]), dtype=bool)
    for role in ("user", "item"):
        column = pd.Series(values[role])
        kept &= (column.notna() & (column != "")).to_numpy()
    return {role: column[kept] for role, column in values.items()}
