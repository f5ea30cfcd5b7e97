"""NumPy arrays of ranked items, and matrices of users by items."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data.io.ids import Values
from repro.data.io.roles import RECOMMENDATIONS
from repro.data.memory.nested import mapping_columns, sequence_columns
from repro.data.memory.tables import Matrix, MemoryTable, Target
from repro.errors import DataError

_NO_ITEM = -1
_STATE = (
    "give repro.Matrix(array) if it is a matrix of users by items, or whole numbers or text if it has the ranked items "
    "of each user"
)


def array_columns(array: npt.NDArray[Any], target: Target) -> MemoryTable:
    """The rows of an array with the items of each user in order of rank, -1 where there is none."""
    if array.dtype.names:
        return mapping_columns({name: array[name] for name in array.dtype.names}, target)
    if array.ndim == 1:
        return sequence_columns(array.tolist(), target)
    if array.ndim != 2:
        raise DataError(f"{target.label} is an array of {array.ndim} dimensions; {_STATE}")
    if array.dtype.kind not in "iuOUS":
        raise DataError(f"{target.label} is an array of {array.dtype}; {_STATE}")
    if array.dtype.kind in "iu" and array.shape[1] > 2 and array.size and array.min() >= 0 and array.max() <= 1:
        raise DataError(f"{target.label} is an array of nothing but 0 and 1; {_STATE}")
    users, depth = array.shape
    items = array.ravel()
    listed = items != _NO_ITEM if array.dtype.kind == "i" else np.ones(len(items), dtype=np.bool_)
    if array.dtype == object:
        listed = np.asarray(pd.notna(items))
    columns: dict[str, Values] = {"user": np.repeat(np.arange(users), depth)[listed], "item": items[listed]}
    if target.kind is RECOMMENDATIONS:
        columns["rank"] = np.tile(np.arange(1, depth + 1), users)[listed]
    return MemoryTable(columns, {"user": users})


def is_sparse(source: object) -> bool:
    """Whether this is a sparse matrix or array of SciPy."""
    return hasattr(source, "tocsr") and hasattr(source, "nnz")


def matrix_columns(matrix: Matrix, target: Target) -> MemoryTable:
    """The rows of a matrix: its stored values, or the cells that have one."""
    values, ids = matrix.values, {"user": matrix.users, "item": matrix.items}
    if isinstance(values, pd.DataFrame):
        named = {"user": values.index.to_numpy(), "item": values.columns.to_numpy()}
        ids = {role: named[role] if of is None else of for role, of in ids.items()}
        values = values.to_numpy()
    rows, columns, cells, shape = _stored(values) if is_sparse(values) else _dense(values, target)
    table: dict[str, Values] = {}
    sizes = {}
    for role, codes, count in (("user", rows, shape[0]), ("item", columns, shape[1])):
        names = ids[role]
        if names is None:
            sizes[role] = count
            names = np.arange(count)
        elif len(names) != count:
            raise DataError(
                f"{target.label} is a matrix of {shape[0]:,} users by {shape[1]:,} items, and {role}s= has "
                f"{len(names):,} ids; give an id for each"
            )
        if (index := pd.Index(names)).has_duplicates or index.hasnans:
            twice = index[index.duplicated() | index.isna()][0]
            raise DataError(f"{role}s= of the matrix of {target.label} has {twice!r} twice or empty; ids must differ")
        table[role] = pd.Categorical.from_codes(codes, index)  # type: ignore[arg-type]
    table["score" if target.kind is RECOMMENDATIONS else "rating"] = cells
    return MemoryTable(table, sizes)


def _stored(matrix: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], tuple[int, int]]:
    """Row, column and value of each stored entry; entries of the same cell are added, as SciPy has it."""
    if len(matrix.shape) != 2:
        raise DataError(f"a sparse array of users by items has two dimensions, and this one {len(matrix.shape)}")
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices, rows.data, rows.shape


def _dense(values: Any, target: Target) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], tuple[int, int]]:
    matrix = np.asarray(values)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise DataError(
            f"the matrix of {target.label} has {matrix.ndim} dimensions and values of type {matrix.dtype}; give "
            "numbers, a row for each user and a column for each item"
        )
    present = ~np.isnan(matrix) if matrix.dtype.kind == "f" else np.ones(matrix.shape, dtype=np.bool_)
    if target.kind is not RECOMMENDATIONS:
        present &= matrix != 0
    rows, columns = np.nonzero(present)
    return rows, columns, matrix[present].astype(np.float64), matrix.shape
