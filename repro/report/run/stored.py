"""The lists that a run stored, and the rows that it held out."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from repro.data import Interactions
from repro.data.io.parquet import read_parquet
from repro.runs.folder import RunFolder
from repro.runs.journal import events
from repro.runs.run import FinishedRun

Numbers = npt.NDArray[np.int64]
_BETWEEN = "\0"  # stands between user and item in the name of a list about one item


class StoredLists:
    """The tables of a run's cells; ids are text here, as 7 and "7" are the same user."""

    def __init__(self, run: FinishedRun) -> None:
        self.run = run
        self._folder = RunFolder(run.folder)

    @cached_property
    def there(self) -> bool:
        """Whether the run has lists; one that only predicts has none."""
        return any("lists" in cell.artifacts for cells in self.run.cells.values() for cell in cells.values())

    @cached_property
    def tests(self) -> dict[str, Interactions]:
        """The test part of each fold, under one coding."""
        made = self.run.journal.events("fold.made")
        tables = [read_parquet(self._folder.artifact(event.artifacts["test"])) for event in made]
        whole = Interactions.from_frame(pa.concat_tables(tables).to_pandas())
        ends = np.cumsum([0, *(table.num_rows for table in tables)])
        return {
            event.fold: whole.select(np.arange(first, last))
            for event, first, last in zip(made, ends[:-1], ends[1:], strict=True)
        }

    @cached_property
    def users(self) -> pa.Array:
        """The ids of users, by code."""
        return _text(pa.array(next(iter(self.tests.values())).user_ids))

    @cached_property
    def items(self) -> pa.Array:
        """The ids of held-out items, by code."""
        return _text(pa.array(next(iter(self.tests.values())).item_ids))

    def listed(self, cell: events.CellFinished) -> pa.Table:
        """A row for each listed item: user, (target), rank, item."""
        return self._table(cell, "lists", ["user", "target", "rank", "item"])

    def lists(self, cell: events.CellFinished) -> pa.Table:
        """A row for each list: user, (target), length."""
        return self._table(cell, "values", ["user", "target", "length"])

    def _table(self, cell: events.CellFinished, name: str, columns: list[str]) -> pa.Table:
        path = self._folder.artifact(cell.artifacts[name])
        there = pq.read_schema(path).names
        table = read_parquet(path, [column for column in columns if column in there])
        for column in ("user", "target", "item"):
            if column in table.column_names:
                table = table.set_column(table.column_names.index(column), column, _text(table[column]))
        return table


def codes(ids: pa.ChunkedArray, known: pa.Array) -> Numbers:
    """The place of each id among those that are known; -1 where it is not among them."""
    found: Numbers = pc.fill_null(pc.index_in(ids, value_set=known), -1).to_numpy().astype(np.int64)
    return found


def list_numbers(listed: pa.Table, lists: pa.Table) -> Numbers:
    """The row of ``lists`` that each listed item is of."""
    return codes(_whose(listed), pc.unique(_whose(lists)))


def _whose(table: pa.Table) -> pa.ChunkedArray:
    if "target" not in table.column_names:
        return table["user"]
    return pc.binary_join_element_wise(table["user"], table["target"], _BETWEEN)


def _text(ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return ids if pa.types.is_string(ids.type) else ids.cast(pa.string())
