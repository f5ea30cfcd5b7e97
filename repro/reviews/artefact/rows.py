"""The rows of a file: users, items, perhaps ratings and times, and the place of each row."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.io.compressed import first_bytes, lines_of
from repro.data.io.delimited import column_values, read_columns
from repro.data.io.formats import is_json_name, is_parquet, readable
from repro.data.io.ids import Values, Where
from repro.data.io.options import ReadOptions
from repro.data.io.parquet import column_names, read_parquet
from repro.data.io.roles import INTERACTIONS, find_alias
from repro.data.io.sniff import guess_layout
from repro.data.io.tables import read_table
from repro.data.io.user_lines import UserLine, read_user_lines
from repro.data.io.values import numbers, plain_values, seconds
from repro.errors import DataError
from repro.text import plural

FOLD_COLUMNS = ("fold", "split", "part", "subset", "partition", "foldid")
_FIRST = 200  # lines that show the form of a text file
_WIDEST = 4  # columns of a table without a header: user, item, rating, time
_ARRAY = b"\x93NUMPY"
_ARCHIVE = b"PK\x03\x04"
_BINARY = (b"\x89HDF", b"\x89PNG", b"\xff\xd8\xff", b"%PDF", b"\x7fELF", b"Rar!", b"7z\xbc\xaf")


@dataclass(frozen=True, eq=False)
class FileRows:
    """The rows of a file.

    form       how the file was read, in words
    is_lists   whether a line has a user (or a pair) and its items, so that the order of the items is that of the file
    targets    in a list of negatives, the item of the pair that each row belongs to; None without pairs
    lines      the index of the line that each row comes from, where lines are lists
    empty      users whose line has no items
    folds      the fold or part of each row, where a column has it
    has_header whether the names of the columns are in the file
    """

    users: Values
    items: Values
    form: str
    where: Where
    ratings: npt.NDArray[np.float64] | None = None
    times: npt.NDArray[np.int64] | None = None
    is_lists: bool = False
    targets: Values | None = None
    lines: npt.NDArray[np.int64] | None = None
    line_users: Sequence[str] = ()
    folds: npt.NDArray[Any] | None = None
    has_header: bool = False
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.users)


def read_rows(path: Path, *, lists: bool = False, by_item: bool = False) -> FileRows:
    """The rows of a file; ``lists`` says that each line has a list, ``by_item`` that each line is that of an item."""
    with readable(path):
        start = first_bytes(path, 16)
        if start[:1] == b"\x80" and start[1:2] <= b"\x05":
            raise DataError("it is a pickle, and reading a pickle executes its content; write it as CSV or Parquet")
        if start.startswith(_ARRAY):
            return _array_rows({"the array": _safe_array(path)})
        if start.startswith(_ARCHIVE) and path.suffix.lower() == ".npz":
            return _array_rows(_archive(path))
        if is_parquet(path) or path.suffix.lower() == ".inter" or is_json_name(path):
            return _table_rows(path)
        if any(start.startswith(magic) for magic in _BINARY):
            raise DataError("it is neither text nor a format with rows of users and items")
        return _text_rows(path, lists, by_item)


def _text_rows(path: Path, lists: bool, by_item: bool) -> FileRows:
    first = [line for _, line in islice(lines_of(path), _FIRST)]
    if not first:
        raise DataError("it has no rows")
    if any("\0" in line for line in first) or _share_of_bad(first) > 0.1:
        raise DataError("it is neither text nor a format with rows of users and items")
    if first[0].lstrip()[:1] in ("{", "["):
        return _table_rows(path)
    if _has_pairs(first):
        return _list_rows(path, read_user_lines(path).lines, "each line is a pair of a user and an item, then items")
    if _begins_with_counts(first):
        counted = read_user_lines(path).lines
        if all(int(line.user) == len(line.items) for line in counted):
            return _counted_rows(path, counted, by_item)
    if lists or _are_lists(first) or _have_colons(first):
        return _list_rows(path, read_user_lines(path).lines, "each line is a user, then items")
    return _table_rows(path)


def _share_of_bad(lines: Sequence[str]) -> float:
    text = "".join(lines)
    return text.count("\ufffd") / max(len(text), 1)


def _has_pairs(lines: Sequence[str]) -> bool:
    """Whether all lines begin with a pair in brackets, as NCF's negatives do."""
    return all(line.lstrip("\"' ").startswith("(") and ")" in line for line in lines)


def _fields(line: str) -> list[str]:
    for mark in ("\t", ",", ";"):
        line = line.replace(mark, " ")
    return line.split()


def _begins_with_counts(lines: Sequence[str]) -> bool:
    """Whether the first number of each line is how many follow: as users, all lines of a length would be one user."""
    split = [_fields(line) for line in lines]
    if len(lines) < 2 or not all(field.isdigit() for fields in split for field in fields):
        return False
    return all(int(fields[0]) == len(fields) - 1 for fields in split)


def _are_lists(lines: Sequence[str]) -> bool:
    """Whether lines are a user and its items: whole numbers, and lines of different lengths or wider than a table."""
    split = [_fields(line) for line in lines]
    widths = {len(fields) for fields in split}
    if not all(field.lstrip("-").isdigit() for fields in split for field in fields):
        return False
    users = [fields[0] for fields in split]
    return len(users) == len(set(users)) and max(widths) > _WIDEST and (len(widths) > 1 or max(widths) > 2 * _WIDEST)


def _have_colons(lines: Sequence[str]) -> bool:
    """Whether lines are a user, a colon, and items: whole numbers."""
    return all(re.fullmatch(r"\s*-?\d+\s*:(?!:)[\d\s,-]*", line) for line in lines)


def _list_rows(path: Path, lines: Sequence[UserLine], form: str) -> FileRows:
    sizes = np.array([len(line.items) for line in lines], dtype=np.int64)
    index = np.repeat(np.arange(len(lines)), sizes)
    users = np.array([line.user for line in lines], dtype=object)
    items = np.array([item for line in lines for item in line.items], dtype=object)
    targets = None
    if lines and all(line.target is not None for line in lines):
        targets = np.array([line.target for line in lines], dtype=object)[index]
    notes = []
    if not sizes.all():
        empty = int(np.argmin(sizes))
        count = int((sizes == 0).sum())
        notes.append(f"{plural(count, 'line')} without items, the first in {lines[empty].place}")
    return FileRows(
        users[index],
        items,
        form,
        lambda row: lines[int(index[row])].place,
        is_lists=True,
        targets=targets,
        lines=index,
        line_users=[line.user for line in lines],
        notes=tuple(notes),
    )


def _counted_rows(path: Path, lines: Sequence[UserLine], by_item: bool) -> FileRows:
    """Lines of a count and so many ids: the user, or the item, is the number of the line, from 0."""
    numbered = [UserLine(line.place, str(number), None, line.items) for number, line in enumerate(lines)]
    noun, other = ("item", "users") if by_item else ("user", "items")
    form = f"each line is a count and so many {other}; the {noun} is the number of the line, from 0"
    rows = _list_rows(path, numbered, form)
    if not by_item:
        return rows
    return FileRows(rows.items, rows.users, form, rows.where, notes=rows.notes)


def _fold_column(path: Path) -> npt.NDArray[Any] | None:
    """The column that names the fold or the part of each row; None without one."""
    if is_parquet(path):
        names = column_names(path)
        name = find_alias(names, FOLD_COLUMNS)
        return None if name is None else plain_values(column_values(read_parquet(path, [name]).column(name)))
    if path.suffix.lower() == ".inter" or is_json_name(path):
        return None
    layout = guess_layout(path, ReadOptions())
    name = find_alias(layout.names, FOLD_COLUMNS) if layout.header else None
    if name is None:
        return None
    return plain_values(read_columns(path, layout, {"fold": name}, ("fold",))[0]["fold"])


def _table_rows(path: Path) -> FileRows:
    table = read_table(path, INTERACTIONS, ReadOptions())
    values = table.values
    label = path.name
    ratings = numbers(values["rating"], "rating", label, table.where) if "rating" in values else None
    times = seconds(values["timestamp"], label, table.where) if "timestamp" in values else None
    return FileRows(
        values["user"],
        values["item"],
        "; ".join((table.format, *table.notes)),
        table.where,
        ratings,
        times,
        is_lists=table.format == "lists",
        folds=None if table.format == "lists" else _fold_column(path),
        has_header=table.format != "text" or any("with a header" in note for note in table.notes),
    )


# --- arrays of NumPy --------------------------------------------------------------------------------------------------


def _safe_array(path: Path) -> npt.NDArray[Any]:
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except ValueError as error:
        raise _unsafe_array(error) from None


def _archive(path: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (ValueError, zipfile.BadZipFile, EOFError, KeyError) as error:
        raise _unsafe_array(error) from None


def _unsafe_array(error: Exception) -> DataError:
    if "pickle" in str(error).lower() or "object" in str(error).lower():
        return DataError(
            "it has an array of Python objects, which is a pickle, and reading a pickle executes its content; write "
            "arrays of numbers, or scipy.sparse.save_npz"
        )
    return DataError(f"it cannot be read as arrays of NumPy ({error})")


def _array_rows(arrays: Mapping[str, npt.NDArray[Any]]) -> FileRows:
    """The stored values of a sparse matrix of SciPy, or an array with the columns user, item and perhaps rating."""
    matrix = _sparse(arrays)
    if matrix is not None:
        users, items, values = matrix
        rated = None if np.all(values == 1) else values.astype(np.float64)
        return FileRows(users, items, "a sparse matrix of SciPy: users by items", _stored_value, rated)
    if len(arrays) == 1:
        (array,) = arrays.values()
        if array.ndim == 2 and array.shape[1] in (2, 3, 4) and array.dtype.kind in "iu":
            ratings = array[:, 2].astype(np.float64) if array.shape[1] > 2 else None
            times = array[:, 3].astype(np.int64) if array.shape[1] > 3 else None
            columns = ", ".join(("user", "item", "rating", "time")[: array.shape[1]])
            form = f"an array with the columns {columns}"
            return FileRows(array[:, 0], array[:, 1], form, _row, ratings, times)
    shapes = ", ".join(f"{name} {array.dtype}{list(array.shape)}" for name, array in islice(arrays.items(), 5))
    raise DataError(f"its arrays are neither a sparse matrix nor rows of users and items ({shapes})")


def _sparse(
    arrays: Mapping[str, npt.NDArray[Any]],
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]] | None:
    """Users, items and values of a matrix as ``scipy.sparse.save_npz`` writes it, without those that are 0."""
    if not {"format", "shape", "data"} <= set(arrays):
        return None
    kind, values = bytes(arrays["format"].tobytes()).rstrip(b"\0").decode("ascii", "replace"), arrays["data"]
    kind = kind.replace("\0", "")
    if kind == "coo" and {"row", "col"} <= set(arrays):
        rows, columns = arrays["row"], arrays["col"]
    elif kind in ("csr", "csc") and {"indptr", "indices"} <= set(arrays):
        sizes, inner = np.diff(arrays["indptr"]), arrays["indices"]
        if (sizes < 0).any() or sizes.sum() != len(inner):
            raise DataError("its sparse matrix is damaged: indptr and indices do not fit together")
        outer = np.repeat(np.arange(len(sizes)), sizes)
        rows, columns = (outer, inner) if kind == "csr" else (inner, outer)
    else:
        raise DataError(f"its sparse matrix has the format {kind!r}; coo, csr and csc are read")
    if not len(rows) == len(columns) == len(values):
        raise DataError("its sparse matrix is damaged: rows, columns and values have different lengths")
    stored = values != 0
    return rows[stored], columns[stored], values[stored]


def _stored_value(row: int) -> str:
    return f"stored value {row + 1:,}"


def _row(row: int) -> str:
    return f"row {row + 1:,}"
