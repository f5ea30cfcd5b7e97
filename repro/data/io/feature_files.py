"""Tables of item features: RecBole's item files, those of MovieLens, Parquet, and delimited text with a header."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from repro.data.io.compressed import open_stream, read_all
from repro.data.io.formats import is_parquet, readable
from repro.data.io.parquet import read_parquet
from repro.data.io.sniff import guess_delimiter
from repro.errors import DataError

# The last columns of u.item, in the order of u.genre; the five before them are not genres.
_GENRES = (
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama"),
    *("Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
)
_U_ITEM_COLUMNS = 5 + len(_GENRES)


def read_feature_table(file: Path) -> pd.DataFrame:
    """The columns of a file; several words in a cell are a list, or separated by ``|``."""
    with readable(file):
        if is_parquet(file):
            return read_parquet(file).to_pandas()
        with open_stream(file) as stream:
            content = read_all(stream)
    first = content.partition(b"\n")[0]
    if b":token" in first:
        return _recbole(_cells(_text(content, file), "\t", "", file), file)
    if first.count(b"|") == _U_ITEM_COLUMNS - 1:
        return _movies((cells[0], _flagged(cells, file)) for cells in _split_lines(content, "|"))
    if b"::" in first:
        return _movies((cells[0], cells[-1].split("|")) for cells in _split_lines(content, "::"))
    text = _text(content, file)
    delimiter = guess_delimiter(text.splitlines()[:1] or [""], '"', ("\t", ";", ","))
    header, *rows = _cells(text, delimiter, '"', file) or [[]]
    return pd.DataFrame(rows, columns=pd.Index(header), dtype=object)


def _split_lines(content: bytes, delimiter: str) -> Iterator[list[str]]:
    """The cells of MovieLens' older files, which are in Latin-1 and have no quotes."""
    return (line.rstrip("\r").split(delimiter) for line in content.decode("latin-1").split("\n") if line.strip())


def _text(content: bytes, file: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{file} is not UTF-8 text; save it as UTF-8") from None


def _cells(text: str, delimiter: str, quote: str, file: Path) -> list[list[str]]:
    """The cells of each row, all rows of one width."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )
    rows: list[list[str]] = []
    for cells in reader:
        if not cells:
            continue
        if rows and len(cells) != len(rows[0]):
            raise DataError(
                f"{file}: line {reader.line_num:,} has {len(cells)} columns where {len(rows[0])} were expected "
                f"({', '.join(rows[0])})"
            )
        rows.append([cell.strip() for cell in cells])
    return rows


def _recbole(rows: list[list[str]], file: Path) -> pd.DataFrame:
    """RecBole's atomic files: the header says ``name:type``, and blanks separate the values of a sequence."""
    table: dict[str, Any] = {}
    for place, cell in enumerate(rows[0]):
        name, _, kind = cell.partition(":")
        values = [row[place] for row in rows[1:]]
        match kind:
            case "token_seq":
                table[name] = [value.split() for value in values]
            case "token":
                table[name] = pd.Categorical(values)  # words even where they are digits
            case "float":
                table[name] = values
            case _:
                raise DataError(f"{file}: column {name} is of type '{kind}'; token, token_seq and float can be read")
    return pd.DataFrame(table)


def _flagged(cells: Sequence[str], file: Path) -> list[str]:
    """The genres of a line of u.item, which has 1 or 0 for each."""
    if len(cells) != _U_ITEM_COLUMNS:
        raise DataError(f"{file}: item {cells[0]} has {len(cells)} columns where {_U_ITEM_COLUMNS} were expected")
    return [genre for genre, flag in zip(_GENRES, cells[5:], strict=True) if flag.strip() == "1"]


def _movies(rows: Iterable[tuple[str, list[str]]]) -> pd.DataFrame:
    items, genres = zip(*rows, strict=True)
    return pd.DataFrame({"item": items, "genres": genres})
