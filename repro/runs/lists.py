"""The lists that a run stored, and the rows that it held out."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from repro.data import Interactions
from repro.data.io.parquet import column_names, read_parquet
from repro.errors import StudyError, nearest
from repro.runs.journal import events

if TYPE_CHECKING:
    from repro.runs.run import Run

Numbers = npt.NDArray[np.int64]
_SEPARATOR = "\0"  # between user and item in the key of a list about one item


class StoredLists:
    """The lists of a run, by algorithm and fold, and the test part of each fold.

    >>> list(repro.Run("run").lists.frame("popularity"))
    ['fold', 'user', ...]
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    def __repr__(self) -> str:
        if not self.available:
            return f"no lists in {self.run.folder}: its metrics compare predictions"
        algorithms, folds = len(self.run.cells), len(self.run.folds)
        return f"lists of {algorithms} algorithms on {folds} folds in {self.run.folder}"

    @cached_property
    def available(self) -> bool:
        """Whether the run has lists; a run that only predicts ratings has none."""
        return any("lists" in cell.artifacts for cells in self.run.cells.values() for cell in cells.values())

    def frame(self, algorithm: str) -> pd.DataFrame:
        """The lists of an algorithm, a row for each listed item: fold, user, (target), rank, item, scored."""
        cells = self.run.cells
        if algorithm not in cells:
            raise StudyError(
                f"there are no lists of '{algorithm}'{nearest(algorithm, cells)} Algorithms: {', '.join(cells)}"
            )
        if not self.available:
            raise StudyError(f"the run in {self.run.folder} has no lists: its metrics compare predictions")
        parts = [
            read_parquet(self.run.stored(cell, "lists")).to_pandas().assign(fold=fold)
            for fold, cell in cells[algorithm].items()
        ]
        frame = pd.concat(parts, ignore_index=True)
        return frame[["fold", *(name for name in frame.columns if name != "fold")]]

    @cached_property
    def tests(self) -> dict[str, Interactions]:
        """The test part of each fold; users and items have the same codes in all folds."""
        folds = self.run.folds
        tables = [read_parquet(self.run.artifact(fold.artifacts["test"])) for fold in folds]
        whole = Interactions.from_frame(pa.concat_tables(tables).to_pandas())
        ends = np.cumsum([0, *(table.num_rows for table in tables)])
        return {
            fold.fold: whole.select(np.arange(first, last))
            for fold, first, last in zip(folds, ends[:-1], ends[1:], strict=True)
        }

    @cached_property
    def users(self) -> pa.Array:
        """The ids of users as text, by code."""
        return _text(pa.array(next(iter(self.tests.values())).user_ids))

    @cached_property
    def items(self) -> pa.Array:
        """The ids of held-out items as text, by code."""
        return _text(pa.array(next(iter(self.tests.values())).item_ids))

    def listed(self, cell: events.CellFinished) -> pa.Table:
        """A row for each listed item: user, (target), rank, item; ids are text, as 7 and "7" are the same user."""
        return self._table(cell, "lists", ["user", "target", "rank", "item"])

    def lists(self, cell: events.CellFinished) -> pa.Table:
        """A row for each list: user, (target), length; ids are text."""
        return self._table(cell, "values", ["user", "target", "length"])

    def _table(self, cell: events.CellFinished, name: str, columns: list[str]) -> pa.Table:
        path = self.run.stored(cell, name)
        stored = column_names(path)
        table = read_parquet(path, [column for column in columns if column in stored])
        for column in ("user", "target", "item"):
            if column in table.column_names:
                table = table.set_column(table.column_names.index(column), column, _text(table[column]))
        return table


def codes(ids: pa.ChunkedArray, known: pa.Array) -> Numbers:
    """The position of each id among ``known``; -1 for other ids."""
    positions: Numbers = pc.fill_null(pc.index_in(ids, value_set=known), -1).to_numpy().astype(np.int64)
    return positions


def list_numbers(listed: pa.Table, lists: pa.Table) -> Numbers:
    """The row of ``lists`` that each listed item belongs to."""
    return codes(_owners(listed), pc.unique(_owners(lists)))


def _owners(table: pa.Table) -> pa.ChunkedArray:
    """The key of each list: its user or, where each list is about one relevant item, the user and that item."""
    if "target" not in table.column_names:
        return table["user"]
    return pc.binary_join_element_wise(table["user"], table["target"], _SEPARATOR)


def _text(ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return ids if pa.types.is_string(ids.type) else ids.cast(pa.string())
