"""One way to read a table from a file, whatever its format and whatever it holds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from repro.data.interactions import Interactions
from repro.data.io.delimited import column_values, line_number, read_columns
from repro.data.io.formats import existing_file, format_of, readable
from repro.data.io.ids import Values, Where, data_row
from repro.data.io.json_files import read_json_table
from repro.data.io.options import ReadOptions
from repro.data.io.parquet import column_names, read_parquet
from repro.data.io.roles import INTERACTIONS, RECOMMENDATIONS, Columns, TableKind, UnknownColumns
from repro.data.io.sniff import Layout, WidthError, columns_note, comments_note, guess_layout
from repro.data.io.trec import read_qrels, read_run
from repro.data.io.user_lines import UserLines, are_user_lines, read_user_lines
from repro.data.io.values import interactions_from_columns
from repro.errors import DataError

DEFAULT = ReadOptions()


@dataclass(frozen=True)
class Table:
    """The columns of a file by role, the place of each row in it, its format, and what was assumed to read it."""

    values: Mapping[str, Values]
    where: Where
    notes: Sequence[str] = ()
    format: str = "text"


@dataclass(frozen=True)
class ReadResult:
    """The interactions of a file, its format, and notes about what was assumed to read it."""

    interactions: Interactions
    format: str
    notes: tuple[str, ...]


def read_interactions(path: str | os.PathLike[str], **options: Any) -> Interactions:
    """Interactions from a file. Options are the fields of :class:`repro.data.ReadOptions`."""
    return read_with_notes(path, ReadOptions(**options)).interactions


def read_with_notes(path: str | os.PathLike[str], options: ReadOptions = DEFAULT) -> ReadResult:
    """The result of :func:`read_interactions`, with notes on the assumptions made to read the file."""
    table = read_table(path, INTERACTIONS, options)
    notes = list(table.notes)
    if options.empty_ids == "drop":
        table = replace(table, values=_without_empty_ids(table.values), where=data_row)
    rows = interactions_from_columns(table.values, str(Path(path)), where=table.where, time_format=options.time_format)
    for noun, ids in (("user", rows.user_ids), ("item", rows.item_ids)):
        notes.append(f"{noun} ids are {'whole numbers' if ids.dtype.kind == 'i' else 'text'}")
    return ReadResult(rows, table.format, tuple(notes))


def read_table(path: str | os.PathLike[str], kind: TableKind, options: ReadOptions = DEFAULT) -> Table:
    """The columns of a file of some kind, by role."""
    file = existing_file(path)
    with readable(file):
        match format_of(file, kind, options.format):
            case "parquet":
                return _read_parquet(file, kind, options.columns)
            case "json":
                return _read_json(file, kind, options.columns)
            case "trec" if kind is RECOMMENDATIONS:
                return Table(*read_run(file), format="trec")
            case "trec":
                notes = ["TREC qrels: user, a column passed over, item, grade"]
                return Table(*read_qrels(file, options.encoding), notes, "trec")
            case "recbole":
                return _read_recbole(file, kind, options)
            case "lists":
                return _read_user_lines(file, options.encoding)
            case _:
                return _read_text(file, kind, options)


def _read_parquet(file: Path, kind: TableKind, columns: Columns | None) -> Table:
    try:
        chosen = kind.choose(column_names(file), columns, str(file))
        table = read_parquet(file, list(chosen.values()))
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(
            f"cannot read {file}: it is not a complete Parquet file ({reason}); if it is cut short, copy it again"
        ) from None
    values = {role: column_values(table.column(name)) for role, name in chosen.items()}
    return Table(values, data_row, ["Parquet", columns_note(chosen)], "parquet")


def _read_json(file: Path, kind: TableKind, columns: Columns | None) -> Table:
    json_table = read_json_table(file, kind, columns)
    if json_table is None:
        lines = read_user_lines(file)
        if any(line.target is not None for line in lines.lines):
            raise DataError(f"{file} has items for pairs of a user and an item, and a user and its items were expected")
        table = _table_of_user_lines(replace(lines, notes=("JSON",)), "each entry is a user and its items")
        return replace(table, where=data_row)
    frame, form = json_table
    if form:
        return Table({str(role): frame[role].to_numpy() for role in frame}, data_row, ["JSON", form], "json")
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    chosen = kind.choose(list(frame.columns), columns, str(file))
    values: dict[str, Values] = {role: frame[name].to_numpy() for role, name in chosen.items()}
    return Table(values, data_row, ["JSON", columns_note(chosen)], "json")


def _read_recbole(file: Path, kind: TableKind, options: ReadOptions) -> Table:
    """RecBole's atomic files: tab-separated, each header cell ``name:type``."""
    layout = guess_layout(file, ReadOptions(delimiter="\t", header=True, encoding=options.encoding, quote=""))
    names = tuple(name.partition(":")[0] for name in layout.names)
    try:
        table = _read_layout(file, kind, replace(layout, names=names), options.columns)
    except UnknownColumns:
        if any(":" in name for name in layout.names):
            raise
        raise DataError(
            f"{file}: a RecBole atomic file begins with a header such as "
            f"'user_id:token<tab>item_id:token<tab>rating:float', not {' '.join(layout.names)[:60]!r}"
        ) from None
    return replace(table, notes=["RecBole atomic file", *table.notes], format="recbole")


def _read_text(file: Path, kind: TableKind, options: ReadOptions) -> Table:
    """Delimited text. Interactions about which nothing is stated may also be a line for each user."""
    guessed = options.columns is None and options.delimiter is None and not options.header
    wide = False
    try:
        layout = guess_layout(file, options)
        wide = not layout.header and len(layout.names) > len(kind.in_order)
        return _read_layout(file, kind, layout, options.columns)
    except DataError as error:
        uneven = wide or isinstance(error, WidthError)
        if not (kind is INTERACTIONS and guessed and uneven):
            raise
        if not are_user_lines(read_user_lines(file, options.encoding).lines):
            raise
    return _read_user_lines(file, options.encoding)


def _read_layout(file: Path, kind: TableKind, layout: Layout, columns: Columns | None) -> Table:
    if layout.header or kind is INTERACTIONS:
        chosen = kind.choose(layout.names, columns, str(file))
    else:
        by_position = kind.choose_by_position(len(layout.names), columns, str(file))
        names = {position: role for role, position in reversed(by_position.items())}
        chosen = {role: names[position] for role, position in by_position.items()}
        layout = replace(layout, names=tuple(names.get(str(n), f"column {n}") for n in range(1, len(layout.names) + 1)))
    values, comments = read_columns(file, layout, chosen, kind.text)
    if kind is RECOMMENDATIONS and not layout.header and not columns:
        values = _separate_ranks(values, str(file))
    notes = layout.describe(chosen)
    if comments:
        first = " ".join(comments[0].split())[:40]
        notes.append(f"{comments_note(len(comments))} among the rows, the first {first!r}")
    return Table(values, partial(line_number, file, layout), notes)


def _read_user_lines(file: Path, encoding: str) -> Table:
    return _table_of_user_lines(read_user_lines(file, encoding), "each line is a user and its items")


def _table_of_user_lines(lines: UserLines, form: str) -> Table:
    """A row for each item of a line."""
    rows = [(line, item) for line in lines.lines for item in line.items]
    users = np.array([line.user for line, _ in rows], dtype=object)
    items = np.array([item for _, item in rows], dtype=object)
    notes = [*lines.notes, form]
    if empty := [line for line in lines.lines if not line.items]:
        notes.append(f"{len(empty):,} users have no items in their lines, the first in {empty[0].place}")
    return Table({"user": users, "item": items}, lambda row: rows[row][0].place, notes, "lists")


def _separate_ranks(values: dict[str, Values], label: str) -> dict[str, Values]:
    """Scores and ranks of a table without a header: a rank counts 1, 2, 3, ... for each user, and a score does not."""
    third = _counting_order(values["user"], values["score"])
    if "rank" not in values:
        if third in ("up", "mixed"):
            raise DataError(
                f"{label} has no header, and its third column counts 1, 2, 3, ... for each user: are these ranks (1 is "
                'best) or scores (1 is worst)? State {"rank": "3"} or {"score": "3"} (on the command line, '
                "--columns rank=3 or --columns score=3)"
            )
        return values
    fourth = _counting_order(values["user"], values["rank"])
    if (third == "up") == (fourth == "up"):
        raise DataError(
            f"{label} has no header, and nothing shows which of its third and fourth columns is the score and which "
            'the rank; state {"score": "3"} or {"rank": "3"} (on the command line, --columns score=3)'
        )
    if third == "up":
        values["score"], values["rank"] = values["rank"], values["score"]
    return values


def _counting_order(users: Values, values: Values) -> str:
    """The direction in which the values of each user count 1, 2, 3, ...: "up", "down" or "mixed"; "" if they do not."""
    table = pd.DataFrame({"user": pd.factorize(users)[0], "value": pd.to_numeric(np.asarray(values), errors="coerce")})
    row = table.groupby("user", sort=False).cumcount().to_numpy() + 1
    size = table.groupby("user", sort=False)["user"].transform("size").to_numpy()
    if size.max(initial=0) < 2:
        return ""
    if (table["value"] == row).all():
        return "up"
    if (table["value"] == size + 1 - row).all():
        return "down"
    ordered = table.sort_values(["user", "value"])
    counted = ordered.groupby("user", sort=False).cumcount() + 1
    return "mixed" if (ordered["value"] == counted).all() else ""


def _without_empty_ids(values: Mapping[str, Values]) -> dict[str, Values]:
    has_ids = np.ones(len(values["user"]), dtype=bool)
    for role in ("user", "item"):
        column = pd.Series(values[role])
        has_ids &= (column.notna() & (column != "")).to_numpy()
    return {role: column[has_ids] for role, column in values.items()}
