"""JSON as people write tables: records, columns, lines of records, or a dictionary for each user."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from repro.data.io.compressed import open_stream, read_all
from repro.data.io.json_text import parse_json
from repro.data.io.sniff import lines_of
from repro.data.io.surprise import FIELDS
from repro.errors import DataError


def read_json_table(file: Path) -> pd.DataFrame:
    """The table in a JSON file, under the names it has there.

    Tuples of five are predictions of Surprise, which lose their names in JSON. A dictionary of items for each user
    has the columns ``user``, ``item`` and ``score``.
    """
    with open_stream(file) as stream:
        text = read_all(stream).decode("utf-8-sig", errors="replace")
    try:
        found = parse_json(text)
    except json.JSONDecodeError as error:
        found = _records_of_lines(file, error)
    if isinstance(found, list) and found and all(isinstance(row, list) and len(row) == len(FIELDS) for row in found):
        return pd.DataFrame(found, columns=list(FIELDS))
    if isinstance(found, list) and found and all(isinstance(row, dict) for row in found):
        return pd.DataFrame(found)
    if isinstance(found, dict) and found and all(isinstance(column, list) for column in found.values()):
        return _of_columns(found, file)
    if isinstance(found, dict) and found and all(isinstance(inner, dict) for inner in found.values()):
        # pandas writes {"user": {"0": ...}}: each column has the same keys, which number the rows.
        numbered = [list(inner) == [str(n) for n in range(len(inner))] for inner in found.values()]
        return _of_columns({k: list(v.values()) for k, v in found.items()}, file) if all(numbered) else nested(found)
    raise DataError(
        f"{file} has no table in it that is understood; expected are records [{{'user': ..., 'item': ..., "
        "'score': ...}], columns {'user': [...], ...}, or {user: {item: score}}"
    )


def nested(lists: Mapping[Any, Mapping[Any, float]]) -> pd.DataFrame:
    """``{user: {item: score}}`` as a table."""
    rows = [(user, item, score) for user, items in lists.items() for item, score in items.items()]
    return pd.DataFrame(rows, columns=["user", "item", "score"])


def _records_of_lines(file: Path, error: json.JSONDecodeError) -> list[Any]:
    """JSON lines; a file that is one broken document fails in its first line, with the fault of the document."""
    records = []
    for number, line in lines_of(file, "utf-8"):
        try:
            records.append(parse_json(line))
        except json.JSONDecodeError as fault:
            said, place = (error, error.lineno) if number == 1 else (fault, number)
            raise DataError(f"{file} is not valid JSON: {said.msg} in line {place:,}; write it again") from None
    return records


def _of_columns(columns: Mapping[str, list[Any]], file: Path) -> pd.DataFrame:
    if len({len(column) for column in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(column):,}" for name, column in columns.items())
        raise DataError(f"{file}: its columns are not equally long ({lengths})")
    return pd.DataFrame(columns)
