"""The columns that tables in memory consist of, and the tables that they become."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data.interactions import Interactions
from repro.data.io.ids import Values
from repro.data.io.roles import TableKind


class ArrowTable(Protocol):
    """Every table with Arrow's interface: of Polars, PyArrow, DuckDB, cuDF, Ibis, and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowBatch(Protocol):
    """A batch of rows with Arrow's interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Any: ...


class LazyTable(Protocol):
    """A query that is not run yet, such as a LazyFrame of Polars."""

    def collect_schema(self) -> Any: ...

    def collect(self) -> Any: ...


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy."""

    def tocsr(self) -> Any: ...


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix of users by items: scores as recommendations, or ratings as the truth.

    values  a NumPy array, a sparse matrix of SciPy, or a data frame whose index and columns are users and items.
            In a dense one, NaN is no score: the item is not in the list of the user. As the truth, 0 is no rating
            either. In a sparse one, every stored value is a score or a rating, also a zero
    users   the id of each row; by default the number of the row, from 0
    items   the id of each column; by default the number of the column, from 0
    """

    values: npt.ArrayLike | SparseMatrix | pd.DataFrame
    users: Sequence[Any] | npt.NDArray[Any] | None = None
    items: Sequence[Any] | npt.NDArray[Any] | None = None


# All forms of tables: see repro.lists.evaluate.
Input: TypeAlias = (
    pd.DataFrame
    | pd.Series
    | ArrowTable
    | ArrowBatch
    | LazyTable
    | Mapping[Any, Any]
    | Sequence[Any]
    | npt.NDArray[Any]
    | SparseMatrix
    | Matrix
    | Interactions
    | str
    | os.PathLike[str]
)

# From the names of the columns to the name for each role.
Choose = Callable[[Sequence[str]], Mapping[str, str]]


@dataclass(frozen=True)
class MemoryTable:
    """The columns of a table by role, such as "user" and "score".

    sizes  for "user" and "item": how many there are, where their ids are their positions from 0
    """

    values: Mapping[str, Values]
    sizes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Target:
    """The purpose for which a table is read: its kind, its name in messages, and how its columns are chosen."""

    kind: TableKind
    label: str
    choose: Choose


def objects(values: Sequence[Any]) -> npt.NDArray[Any]:
    """A column of Python objects, which NumPy does not look into."""
    return np.fromiter(values, dtype=object, count=len(values))
