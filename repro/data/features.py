"""Features of items: genres, classes, weights, from the files that come with data sets or from the user's own."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.sparse import csr_array

from repro.data.download import Progress, fetch
from repro.data.interactions import CodeArray, FloatArray, IdArray
from repro.data.io.parquet import read_parquet
from repro.data.io.readers import existing_file
from repro.data.io.sniff import ALIASES
from repro.data.io.values import encode_ids
from repro.data.registry import dataset, datasets
from repro.errors import DataError, nearest

# The columns of u.item after the five that are no genres, as u.genre has them.
_GENRES = (
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama"),
    *("Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
)
_U_ITEM_COLUMNS = 5 + len(_GENRES)
_NO_TOKENS = ("", "(no genres listed)")
# Columns that say what an item is called, not what it is like: features only where they are asked for.
_LABELS = ("title", "name", "url")


@dataclass(frozen=True, eq=False)
class ItemFeatures:
    """Items by features: a weight for each, 0 where an item lacks the feature.

    ``item_ids`` ascend as in :class:`repro.data.Interactions`; ``names`` are those of the columns of ``weights``.
    """

    item_ids: IdArray
    names: tuple[str, ...]
    weights: csr_array

    def of_items(self, item_ids: IdArray) -> csr_array:
        """A row for each of these items, empty where nothing is known of it. 7 and "7" are the same item."""
        known = {str(item): row for row, item in enumerate(self.item_ids.tolist())}
        rows = np.array([known.get(str(item), -1) for item in item_ids.tolist()], dtype=np.int64)
        found = np.flatnonzero(rows >= 0)
        chosen = csr_array((np.ones(len(found)), (found, rows[found])), shape=(len(rows), len(self.item_ids)))
        return csr_array(chosen @ self.weights)

    def to_frame(self) -> pd.DataFrame:
        """A row for each item, a column for each feature."""
        table = pd.DataFrame(self.weights.toarray(), columns=pd.Index(self.names))
        table.insert(0, "item", self.item_ids)
        return table

    @cached_property
    def digest(self) -> str:
        """SHA-256 of items, features and weights, whatever file they come from."""
        entries = self.weights.tocoo()
        items = [str(item) for item in self.item_ids[entries.coords[0]].tolist()]
        names = [self.names[column] for column in entries.coords[1].tolist()]
        lines = sorted(zip(items, names, (float(v).hex() for v in entries.data), strict=True))
        known = "\x1f".join(sorted(str(item) for item in self.item_ids.tolist()))
        content = "\x1e".join([known, *("\x1f".join(line) for line in lines)])
        return hashlib.sha256(content.encode()).hexdigest()

    def __repr__(self) -> str:
        return f"ItemFeatures({len(self.item_ids):,} items, {len(self.names):,} features)"


def load_item_features(
    name_or_path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    item: str | None = None,
    progress: Progress | None = None,
) -> ItemFeatures:
    """Features of items by the name of a data set that has them (``"ml-100k"``), or from a file.

    A file is one of RecBole's (``.item``), MovieLens' u.item, movies.dat or movies.csv, Parquet, or a table of text
    with a header. Each word of a text column is a feature that an item has (1) or lacks (0); words are separated by
    ``|``, in RecBole's ``token_seq`` by blanks. A column of numbers is a feature with that weight. An item may have
    several rows of words.

    ``columns`` are those to be used: by default all but the item and what is called a title, a name or a URL.
    ``item`` is the column of the items; common names are known.
    """
    name = os.fspath(name_or_path)
    if name in datasets() and not isinstance(name_or_path, Path):
        return _of_dataset(name, columns, progress)
    file = existing_file(name)
    return features_from_frame(_table(file), columns, item=item, label=str(file))


def _of_dataset(name: str, columns: Sequence[str] | None, progress: Progress | None) -> ItemFeatures:
    known = dataset(name)
    sources = tuple(
        replace(source, member=source.features, member_checksum="") for source in known.sources if source.features
    )
    if not sources:
        able = [one.name for one in datasets().values() if any(source.features for source in one.sources)]
        raise DataError(
            f"{name} comes without features of its items; name a file of them (with features come {', '.join(able)})"
        )
    fetched = fetch(replace(known, sources=sources), progress)
    stated = list(fetched.source.feature_columns) or None
    return features_from_frame(_table(fetched.path), columns or stated, label=str(fetched.path))


def features_from_frame(
    frame: pd.DataFrame, columns: Sequence[str] | None = None, *, item: str | None = None, label: str = "features"
) -> ItemFeatures:
    """Features from a frame with a row for each item; see :func:`load_item_features` for its columns.

    A cell may also be a list of words.
    """
    names = [str(name) for name in frame.columns]
    table = frame.set_axis(names, axis=1)
    key = _item_column(names, item, label)
    chosen = _feature_columns(names, key, columns, label)
    if not len(table):
        raise DataError(f"{label} has no rows: a file of features has a row for each item")
    codes, ids = encode_ids(table[key].to_numpy(), "item", label)
    parts = [_entries(table[name], name, codes, len(chosen) > 1, label) for name in chosen]
    rows = np.concatenate([part[0] for part in parts])
    words = np.concatenate([part[1] for part in parts])
    weights = np.concatenate([part[2] for part in parts])
    places, features = pd.factorize(words, sort=True)
    _, first = np.unique(rows.astype(np.int64) * max(len(features), 1) + places, return_index=True)
    matrix = csr_array((weights[first], (rows[first], places[first])), shape=(len(ids), len(features)))
    return ItemFeatures(ids, tuple(str(feature) for feature in features), matrix)


def _item_column(names: Sequence[str], stated: str | None, label: str) -> str:
    if stated is not None:
        if stated not in names:
            raise DataError(f"{label} has no column '{stated}'; it has {', '.join(names)}{nearest(stated, names)}")
        return stated
    for alias in ALIASES["item"]:
        for name in names:
            if _plain(name) == alias:
                return name
    raise DataError(f"{label} has no column 'item'; it has {', '.join(names)}. State which one it is: item='...'")


def _feature_columns(names: Sequence[str], item: str, stated: Sequence[str] | None, label: str) -> list[str]:
    if isinstance(stated, str):
        stated = [stated]
    others = [name for name in names if name != item]
    for name in stated or ():
        if name not in others:
            raise DataError(f"{label} has no column '{name}'; it has {', '.join(others)}{nearest(name, others)}")
    chosen = list(stated or (name for name in others if not _plain(name).endswith(_LABELS)))
    if not chosen:
        raise DataError(f"{label} has no column of features beside {item}; it has {', '.join(names)}")
    return chosen


def _entries(
    column: pd.Series, name: str, items: CodeArray, prefixed: bool, label: str
) -> tuple[CodeArray, np.ndarray[Any, np.dtype[np.object_]], FloatArray]:
    """Item, feature and weight of each entry of a column."""
    weights = _weights(column)
    if weights is not None:
        if len(np.unique(items)) < len(items):
            again = int(np.flatnonzero(pd.Series(items).duplicated())[0])
            raise DataError(
                f"{label}: the item of row {again + 1:,} has a row before, and {name} is a column of numbers; give "
                "each item one row"
            )
        kept = np.flatnonzero(weights)
        return items[kept], np.full(len(kept), name, dtype=object), weights[kept]
    words = [list(_words(cell)) for cell in column.tolist()]
    rows = np.repeat(items, [len(cell) for cell in words])
    texts = [f"{name}={word}" if prefixed else word for cell in words for word in cell]
    return rows, np.array(texts, dtype=object), np.ones(len(texts))


def _weights(column: pd.Series) -> FloatArray | None:
    """The numbers of a column, 0 where a cell is empty; None where they are words."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return None
    values = column.tolist()
    found = np.zeros(len(values))
    for row, value in enumerate(values):
        if _is_empty(value):
            continue
        try:
            found[row] = float(value)
        except (TypeError, ValueError):
            return None
        if not math.isfinite(found[row]):
            return None
    return found


def _is_empty(cell: object) -> bool:
    if isinstance(cell, str):
        return not cell.strip()
    return cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell))


def _words(cell: object) -> Iterator[str]:
    if isinstance(cell, Iterable) and not isinstance(cell, str):
        parts = [str(part) for part in cell]
    else:
        parts = [] if _is_empty(cell) else str(cell).split("|")
    return (part.strip() for part in parts if part.strip() not in _NO_TOKENS)


def _table(file: Path) -> pd.DataFrame:
    """The columns of a file; words that stand together in a cell are lists, or separated by ``|``."""
    with file.open("rb") as stream:
        if stream.read(4) == b"PAR1":
            return read_parquet(file).to_pandas()
    try:
        with pa.input_stream(str(file), compression="detect") as source:
            content = source.read()
    except (OSError, pa.ArrowInvalid) as error:
        raise DataError(f"cannot read {file} ({error}); if it is damaged or cut short, copy it again") from None
    first = content.partition(b"\n")[0]
    if b":token" in first:
        return _recbole(_cells(_text(content, file), "\t", "", file), file)
    if first.count(b"|") == _U_ITEM_COLUMNS - 1:
        return _movies((cells[0], _flagged(cells, file)) for cells in _split_lines(content, "|"))
    if b"::" in first:
        return _movies((cells[0], cells[-1].split("|")) for cells in _split_lines(content, "::"))
    delimiter = next((mark for mark in ("\t", ";", ",") if mark.encode() in first), ",")
    header, *rows = _cells(_text(content, file), delimiter, '"', file) or [[]]
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


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
