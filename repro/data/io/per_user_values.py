"""Files with a value for each user and metric, as `repro evaluate --per-user` writes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv

from repro.data.io.compressed import lines_of, open_stream
from repro.data.io.formats import existing_file, is_parquet, readable
from repro.data.io.parquet import read_parquet
from repro.data.io.sniff import guess_delimiter
from repro.data.spreadsheet import text_of
from repro.errors import DataError

_REQUIRED = ("user", "metric", "value")
_TEXT = {"user": pa.string(), "metric": pa.string(), "run": pa.string()}  # user 007 is not user 7


def read_per_user_values(path: str | Path) -> pa.Table:
    """The columns ``user``, ``metric``, ``value`` and perhaps ``run``, exactly as they were written."""
    file = existing_file(path)
    with readable(file):
        table = read_parquet(file) if is_parquet(file) else _read_text(file)
    require_columns(table.column_names, str(file))
    return table


def require_columns(columns: Iterable[object], name: str) -> None:
    """Raise an error if a table of per-user values, called ``name`` in messages, has not the columns of one."""
    given = set(columns)
    missing = [column for column in _REQUIRED if column not in given]
    if missing:
        raise DataError(
            f"{name} has no column {' and '.join(map(repr, missing))}; per-user values have the columns user, metric "
            "and value, as `repro evaluate --per-user` and repro.evaluate(..., per_user=True) give them"
        )


def _read_text(file: Path) -> pa.Table:
    header = next((line for _, line in lines_of(file)), "")
    parse = pacsv.ParseOptions(delimiter=guess_delimiter([header], '"', ("\t", ",")), newlines_in_values=True)
    with open_stream(file) as stream:
        table = pacsv.read_csv(stream, parse_options=parse, convert_options=pacsv.ConvertOptions(column_types=_TEXT))
    for name in _TEXT.keys() & set(table.column_names):
        cells = [None if cell is None else text_of(cell) for cell in table[name].to_pylist()]
        table = table.set_column(table.column_names.index(name), name, pa.array(cells, pa.string()))
    return table
