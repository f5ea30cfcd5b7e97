"""A split given as a table with a row for each pair of a user and an item, and a column for its fold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data.description import pair_codes
from repro.data.impact import Impact
from repro.data.interactions import IdArray, Interactions, RowArray
from repro.data.io.ids import id_text
from repro.data.io.roles import FOLDS
from repro.data.io.tables import read_table
from repro.data.io.values import plain_values
from repro.errors import DataError
from repro.protocol import Option, Protocol
from repro.split.plan import LEFT_OUT, TEST, TRAIN, VALIDATION, PartArray, Plan, Strategy

FILE = "split.fold_file"
PARTS = {
    TRAIN: ("train", "training", "base", "tr"),
    VALIDATION: ("validation", "valid", "val", "dev", "vali", "va"),
    TEST: ("test", "testing", "eval", "heldout", "te"),
}
# A table in which this share of the pairs is unknown is about other data.
_UNKNOWN_SHARE = 0.5


def plan_fold_table(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """The folds of the table ``split.fold_file``, with the columns user, item, fold and, perhaps, part.

    Without a column for the part, its rows are the test rows of their folds, and all other rows of the data are in
    training. With one, a row is in the training, validation or test part of its fold; rows of the data that a fold does
    not list are in training if the table lists no training rows at all, and left out otherwise. Without a column for
    the fold there is one fold.
    """
    path = protocol.path(FILE)
    table = _read(path)
    rows = _rows_of(interactions, table, path)
    known = rows >= 0
    unknown = int((~known).sum())
    if not known.any() or unknown >= _UNKNOWN_SHARE * len(rows):
        first = table.iloc[int(np.flatnonzero(~known)[0])] if unknown else None
        example = "" if first is None else f", the first user {first['user']} and item {first['item']}"
        raise DataError(
            f"{path}: {unknown:,} of its {len(rows):,} pairs are not in the data{example}; the ids of the table must "
            "be those of the data set"
        )
    rest = LEFT_OUT if (table["part"] == TRAIN).any() else TRAIN
    names = _names(table["fold"])
    members = ((table["fold"] == name).to_numpy() & known for name in names)
    folds = [_fold(table, rows, chosen, rest, len(interactions), path) for chosen in members]
    note = "are not in the data, perhaps left out by the decisions data.*, and are in no part"
    used = f"are read; columns: {', '.join(table.attrs['columns'])}"
    impacts = [
        Impact.of(protocol, FILE, int(known.sum()), len(rows), "rows of the table", used),
        Impact.of(protocol, FILE, unknown, len(rows), "rows of the table", note),
    ]
    validation = bool((table["part"] == VALIDATION).any())
    return Plan(folds, impacts, validation=validation, names=names)


def _read(path: Path) -> pd.DataFrame:
    """User, item and fold as text, and the part as a code."""
    table = read_table(path, FOLDS)
    columns = {role: [id_text(value) for value in plain_values(values)] for role, values in table.values.items()}
    if "fold" not in columns and "part" not in columns:
        raise DataError(f"{path} has neither a column 'fold' nor 'part'; {FILE} needs one of them")
    frame = pd.DataFrame(columns)
    frame.attrs["columns"] = list(columns)
    if not len(frame):
        raise DataError(f"{path} has no rows")
    frame["fold"] = frame["fold"] if "fold" in columns else "1"
    codes = {name: code for code, names in PARTS.items() for name in names}
    parts = frame["part"].str.strip().str.lower().map(codes) if "part" in columns else pd.Series(TEST, frame.index)
    if parts.isna().any():
        row = int(np.flatnonzero(parts.isna())[0])
        raise DataError(
            f"{path}, {table.where(row)}: the part is '{frame['part'].iloc[row]}'; expected are train, validation or "
            "test"
        )
    frame["part"] = parts.astype(np.uint8)
    return frame


def _rows_of(interactions: Interactions, table: pd.DataFrame, path: Path) -> RowArray:
    """The row of the data for each row of the table; -1 where there is none."""
    users = _codes(table["user"], interactions.user_ids)
    items = _codes(table["item"], interactions.item_ids)
    pairs = pair_codes(interactions)
    order = np.argsort(pairs, kind="stable")
    sought = users * interactions.n_items + items
    places = np.minimum(np.searchsorted(pairs[order], sought), len(order) - 1)
    found = (pairs[order][places] == sought) & (users >= 0) & (items >= 0)
    rows: RowArray = np.where(found, order[places], -1).astype(np.int64)
    return rows


def _codes(texts: pd.Series[str], ids: IdArray) -> npt.NDArray[np.int64]:
    """The code of each id; -1 for unknown ones."""
    codes: Mapping[str, int] = {id_text(value): code for code, value in enumerate(ids)}
    return np.array([codes.get(text, -1) for text in texts], dtype=np.int64)


def _names(folds: pd.Series[str]) -> list[str]:
    """The names of the folds: numbers in their order, and others as they first appear."""
    names = list(dict.fromkeys(folds))
    return sorted(names, key=float) if all(name.replace(".", "", 1).isdecimal() for name in names) else names


def _fold(
    table: pd.DataFrame, rows: RowArray, chosen: npt.NDArray[np.bool_], rest: np.uint8, size: int, path: Path
) -> PartArray:
    own = rows[chosen]
    if len(np.unique(own)) < len(own):
        distinct, counts = np.unique(own, return_counts=True)
        row = table.iloc[int(np.flatnonzero(chosen & (rows == distinct[counts > 1][0]))[1])]
        raise DataError(
            f"{path}: fold {row['fold']} has user {row['user']} and item {row['item']} several times; keep one of "
            "the rows"
        )
    parts = np.full(size, rest)
    parts[own] = table["part"].to_numpy()[chosen]
    return parts


FOLD_TABLE = Strategy(
    Option(
        "fold-table",
        "as a table says that has the fold of each held-out row",
        "The folds were given, in the table {split.fold_file}.",
    ),
    plan_fold_table,
    "check the table",
    reads=("split.fold_file",),
)
