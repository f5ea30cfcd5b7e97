"""Files of interactions: delimited text, Parquet, RecBole atomic files, TREC qrels."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from repro.data.columns import Values, data_row, interactions_from_columns
from repro.data.interactions import Interactions
from repro.data.text import (
    Columns,
    Layout,
    column_values,
    guess_layout,
    line_number,
    lines_of,
    read_columns,
    roles,
)
from repro.errors import DataError, nearest

FORMATS = ("text", "parquet", "recbole", "qrels")
_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".inter": "recbole",
    ".qrels": "qrels",
    ".qrel": "qrels",
}
_SPELLINGS = {"csv": "text", "tsv": "text", "dat": "text", "txt": "text", "inter": "recbole", "trec": "qrels"}

Where = Callable[[int], str]


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

    ``format`` is one of ``text``, ``parquet``, ``recbole`` and ``qrels``. ``columns`` maps ``user``, ``item``,
    ``rating`` and ``timestamp`` to the names in the file (an empty name leaves the column out), or names the
    columns of a text file in order, ``-`` for one to pass over. ``time_format`` reads dates that are not
    ISO 8601 (``%m/%d/%Y``). ``empty_ids`` is ``error``, or ``drop`` to leave out rows without a user or item.
    """
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
    where: Where = data_row
    try:
        match _format_of(file, format):
            case "parquet":
                values = _read_parquet(file, columns)
            case "qrels":
                values, where = _read_qrels(file, encoding)
            case "recbole":
                values, where = _read_recbole(file, columns, encoding)
            case _:
                layout = guess_layout(file, delimiter, header, columns, encoding, quote, escape)
                values, where = _read_text(file, layout, columns)
    except (OSError, pa.ArrowInvalid) as error:  # Arrow's readers raise these for a damaged compressed file too
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"cannot read {file} ({reason}); if it is damaged or cut short, copy it again") from None
    if empty_ids == "drop":
        values, where = _without_empty_ids(values), data_row
    return interactions_from_columns(values, str(file), where=where, time_format=time_format)


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
    suffix = Path(file.stem).suffix if file.suffix in (".gz", ".bz2") else file.suffix
    if suffix.lower() in _SUFFIXES:
        return _SUFFIXES[suffix.lower()]
    with file.open("rb") as stream:
        start = stream.read(4096)
    if start.startswith(b"PAR1"):
        return "parquet"
    first = start.partition(b"\n")[0]
    return "recbole" if b":token" in first and b"\t" in first else "text"


def _read_text(file: Path, layout: Layout, columns: Columns | None) -> tuple[dict[str, Values], Where]:
    chosen = roles(layout.names, columns, str(file))
    return read_columns(file, layout, chosen), partial(line_number, file, layout)


def _read_recbole(file: Path, columns: Columns | None, encoding: str) -> tuple[dict[str, Values], Where]:
    """RecBole's atomic files: tab-separated, each header cell ``name:type``."""
    layout = guess_layout(file, "\t", True, None, encoding, "", "")
    names = tuple(name.partition(":")[0] for name in layout.names)
    if not any(":" in name for name in layout.names):
        raise DataError(
            f"{file}: a RecBole atomic file begins with a header such as "
            f"'user_id:token<tab>item_id:token<tab>rating:float', not {' '.join(layout.names)[:60]!r}"
        )
    return _read_text(file, Layout("\t", names, True, encoding, ""), columns)


def _read_parquet(file: Path, columns: Columns | None) -> dict[str, Values]:
    try:
        with pq.ParquetFile(file) as parquet:
            chosen = roles(parquet.schema_arrow.names, columns, str(file))
            table = parquet.read(columns=list(chosen.values()))
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(
            f"{file} is not a complete Parquet file ({reason}); it may be cut short: write or copy it again"
        ) from None
    return {role: column_values(table.column(name)) for role, name in chosen.items()}


def _read_qrels(file: Path, encoding: str) -> tuple[dict[str, Values], Where]:
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
    return {"user": users, "item": items, "rating": grades}, lambda row: f"line {numbers[row]:,}"


def _without_empty_ids(values: dict[str, Values]) -> dict[str, Values]:
    kept = np.ones(len(values["user"]), dtype=bool)
    for role in ("user", "item"):
        column = pd.Series(values[role])
        kept &= (column.notna() & (column != "")).to_numpy()
    return {role: column[kept] for role, column in values.items()}
