"""JSON as people write tables: records, columns, rows, lines of these, or a dictionary for each user."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from repro.data.io.compressed import lines_of, open_stream, read_all
from repro.data.io.ids import id_text
from repro.data.io.roles import INTERACTIONS, SURPRISE_FIELDS, Columns, TableKind, find_alias
from repro.errors import DataError


def parse_json(text: str) -> Any:
    """The document in a text that is not trusted; whatever is wrong with it is a JSONDecodeError."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError("lists or objects that are nested too deeply", text, 0) from None
    except ValueError as error:  # a number of thousands of digits
        raise json.JSONDecodeError(str(error).partition(";")[0], text, 0) from None


def load_json(path: Path) -> Any:
    """The document in a JSON file, or the list of the documents in its lines."""
    with open_stream(path) as stream:
        text = read_all(stream).decode("utf-8-sig", errors="replace")
    try:
        return parse_json(text)
    except json.JSONDecodeError as whole_error:
        documents = []
        for number, line in lines_of(path):
            try:
                documents.append(parse_json(line))
            except json.JSONDecodeError as line_error:  # in the first line, the file is one broken document
                error, place = (whole_error, whole_error.lineno) if number == 1 else (line_error, number)
                raise DataError(f"{path} is not valid JSON: {error.msg} in line {place:,}; write it again") from None
        return documents


def read_json_table(path: Path, kind: TableKind, columns: Columns | None) -> tuple[pd.DataFrame, str] | None:
    """The table in a JSON file; and its form, where it has no names of columns, which are called by their roles then.

    None where a file of interactions has no table, but may have a list of items for each user.
    """
    document = load_json(path)
    has_lists = kind is INTERACTIONS
    if has_lists and isinstance(document, dict) and any(not isinstance(v, list | dict) for v in document.values()):
        document = [document]  # one record
    if _is_list_of(document, dict) and not (has_lists and _has_nested(document)):
        return pd.DataFrame(document), ""
    if _is_list_of(document, list) and has_lists:
        width = len(document[0])
        if width in kind.widths and all(len(row) == width for row in document):
            roles = list(kind.in_order[:width])
            rows = [[id_text(cell) for cell in row] for row in document]
            return pd.DataFrame(rows, columns=roles, dtype=object), f"taken are {', '.join(roles)}"
    elif _is_list_of(document, list) and all(len(row) == len(SURPRISE_FIELDS) for row in document):
        return pd.DataFrame(document, columns=list(SURPRISE_FIELDS)), ""  # tuples lose their names in JSON
    if isinstance(document, dict) and document:
        named = _names_columns(document, kind, columns)
        if all(isinstance(column, list) for column in document.values()) and (named or not has_lists):
            return _frame_of_columns(document, path), ""
        if all(isinstance(inner, dict) and not _has_nested([inner]) for inner in document.values()):
            # pandas writes {"user": {"0": ...}, "item": {"0": ...}}: the keys of each column number the rows.
            numbered = all(list(inner) == [str(n) for n in range(len(inner))] for inner in document.values())
            if numbered and named:
                return _frame_of_columns({name: list(inner.values()) for name, inner in document.items()}, path), ""
            scores = [(user, item, score) for user, inner in document.items() for item, score in inner.items()]
            form = "{user: {item: rating}}" if has_lists else ""
            return pd.DataFrame(scores, columns=list(kind.in_order[:3])), form
    if has_lists:
        return None
    raise DataError(
        f"{path} has no table in a known form; expected are records [{{'user': ..., 'item': ..., 'score': ...}}], "
        "columns {'user': [...], ...}, or {user: {item: score}}"
    )


def _is_list_of(document: object, type_: type) -> bool:
    return isinstance(document, list) and bool(document) and all(isinstance(row, type_) for row in document)


def _has_nested(records: list[dict[str, Any]]) -> bool:
    return any(isinstance(value, list | dict) for record in records for value in record.values())


def _names_columns(document: Mapping[str, Any], kind: TableKind, columns: Columns | None) -> bool:
    """Whether the keys of a document are names of columns, and not ids of users."""
    stated = columns if isinstance(columns, Mapping) else {}
    names = list(document)
    return all(stated.get(role) in names or find_alias(names, kind.aliases[role]) for role in ("user", "item"))


def _frame_of_columns(columns: Mapping[str, list[Any]], path: Path) -> pd.DataFrame:
    if len({len(column) for column in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(column):,}" for name, column in columns.items())
        raise DataError(f"{path}: its columns are not equally long ({lengths})")
    return pd.DataFrame(columns)
