"""One way to read a table in memory, whichever library holds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
import pandas as pd

from repro.data.interactions import Interactions
from repro.data.io.ids import Values
from repro.data.memory.frames import arrow_columns, is_arrow, lazy_columns, pandas_columns, series_columns
from repro.data.memory.matrices import array_columns, is_sparse, matrix_columns
from repro.data.memory.nested import mapping_columns, sequence_columns
from repro.data.memory.tables import Matrix, MemoryTable, Target
from repro.errors import DataError


def read_memory(source: Any, target: Target) -> MemoryTable:
    """The columns of a table in memory by role; its forms are listed at :func:`repro.lists.evaluate`."""
    match source:
        case pd.DataFrame():
            return pandas_columns(source, target)
        case pd.Series():
            return series_columns(source, target) or mapping_columns(dict(source.items()), target)
        case Interactions():
            return _of_interactions(source, target)
        case Matrix():
            return matrix_columns(source, target)
        case np.ndarray():
            return array_columns(source, target)
        case Mapping():
            return mapping_columns(source, target)
    if is_sparse(source):
        return matrix_columns(Matrix(source), target)
    if is_arrow(source):
        return arrow_columns(source, target)
    if hasattr(source, "collect_schema"):
        return lazy_columns(source, target)
    if type(source).__module__.partition(".")[0] == "ranx" and hasattr(source, "to_dict"):  # its Run and Qrels
        return mapping_columns(source.to_dict(), target)
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        return sequence_columns(source, target)
    if hasattr(source, "to_pandas"):
        return pandas_columns(source.to_pandas(), target)
    if hasattr(source, "__array__"):  # tensors
        return array_columns(np.asarray(source), target)
    if isinstance(source, Iterable) and not isinstance(source, str | bytes | Set):  # generators, dict.values()
        return sequence_columns(list(source), target)
    value = "score" if "score" in target.kind.aliases else "rating"
    raise DataError(
        f"{target.label} is of type {type(source).__name__}; give a data frame (pandas, Polars, Arrow) with the "
        f"columns user, item and {value}, {{user: {{item: {value}}}}}, {{user: [items]}}, a list of items for each "
        "user, an array of them, a sparse matrix, repro.Matrix(...), or the path of a file"
    )


def _of_interactions(source: Interactions, target: Target) -> MemoryTable:
    values: dict[str, Values] = {}
    for role, codes, ids in (("user", source.users, source.user_ids), ("item", source.items, source.item_ids)):
        values[role] = pd.Categorical.from_codes(codes, pd.Index(ids))  # type: ignore[arg-type]
    if source.explicit:
        values["rating"] = source.ratings
    if source.timestamps is not None:
        values["timestamp"] = source.timestamps
    if "score" in target.kind.aliases:
        raise DataError(f"{target.label} are interactions, which have no scores; give the scores of a recommender")
    return MemoryTable(values)
