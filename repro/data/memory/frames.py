"""Data frames of pandas, and of every library with Arrow's interface, without a detour of one through another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from repro.data.io.ids import Values
from repro.data.memory.tables import MemoryTable, Target
from repro.errors import DataError


def pandas_columns(frame: pd.DataFrame, target: Target) -> MemoryTable:
    """The columns of a pandas frame; they may also be in its index, where grouping leaves them."""
    names = [str(name) for name in frame.columns]
    levels = [str(name) for name in frame.index.names if name is not None and str(name) not in names]
    values: dict[str, Values] = {}
    for role, name in target.choose([*names, *levels]).items():
        if name in names:
            values[role] = pandas_values(frame.iloc[:, names.index(name)])
        else:
            level = [str(known) for known in frame.index.names].index(name)
            values[role] = pandas_values(frame.index.get_level_values(level).to_series())
    return MemoryTable(values)


def pandas_values(series: pd.Series) -> Values:
    """The values of a column in the form in which pandas holds them."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Categorical(series)
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow":
        return chunked(pa.array(series.array))
    kind = getattr(dtype, "numpy_dtype", None)  # of Int64 and its like
    if not isinstance(dtype, np.dtype) and isinstance(kind, np.dtype) and not series.hasnans:
        return series.to_numpy(dtype=kind)
    return series.to_numpy()


def series_columns(series: pd.Series, target: Target) -> MemoryTable | None:
    """A column with users and items in its index; None where it has something for each user."""
    if series.index.nlevels < 2:
        return None
    name = "score" if "score" in target.kind.aliases else "rating"
    return pandas_columns(series.to_frame(name if series.name is None else str(series.name)), target)


def is_arrow(source: object) -> bool:
    """Whether this is a table or a batch with Arrow's interface."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


def arrow_columns(source: Any, target: Target) -> MemoryTable:
    """The columns of a table of Polars, PyArrow, DuckDB, or another library with Arrow's interface."""
    try:
        table = source if isinstance(source, pa.Table) else pa.table(source)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise DataError(
            f"{target.label} of type {type(source).__name__} is no table for Arrow "
            f"({str(error).splitlines()[0].rstrip('.')}); give a table with a row for each user and item"
        ) from None
    names = table.column_names
    return MemoryTable({role: table.column(names.index(name)) for role, name in target.choose(names).items()})


def lazy_columns(source: Any, target: Target) -> MemoryTable:
    """The columns of a query, which is run for them alone."""
    chosen = target.choose(list(source.collect_schema().names()))
    return arrow_columns(source.select(list(dict.fromkeys(chosen.values()))).collect(), target)


def chunked(array: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of Arrow."""
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def column_values(column: Any) -> Values:
    """A column of a dictionary of columns, whichever library holds it."""
    if isinstance(column, pd.Series):
        return pandas_values(column)
    if isinstance(column, np.ndarray | pd.Categorical):
        return column
    if is_arrow(column):
        return chunked(pa.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else pa.array(column))
    values = list(column.values()) if isinstance(column, dict) else list(column)
    return np.fromiter(values, dtype=object, count=len(values))
