"""From raw columns to interactions: the border where bad values are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, IdArray, Interactions
from repro.errors import DataError, nearest


def interactions_from_columns(
    columns: Mapping[str, npt.NDArray[Any]], label: str, available: Sequence[str] = ()
) -> Interactions:
    """Interactions from arrays for ``user``, ``item`` and perhaps ``rating`` and ``timestamp``.

    ``label`` names the source in messages; ``available`` are the names its columns have there.
    """
    for role in ("user", "item"):
        if role not in columns:
            has = f"; it has {', '.join(available)}" if available else ""
            raise DataError(f"{label} has no column '{role}'{has}{nearest(role, available)}")
    if not len(columns["user"]):
        raise DataError(f"{label} has no rows: nothing to evaluate")
    users, user_ids = encode_ids(columns["user"], "user", label)
    items, item_ids = encode_ids(columns["item"], "item", label)
    explicit = "rating" in columns
    ratings = numbers(columns["rating"], "rating", label) if explicit else np.ones(len(users), dtype=np.float64)
    timestamps = None
    if "timestamp" in columns:
        timestamps = numbers(columns["timestamp"], "timestamp", label).astype(np.int64)
    return Interactions(users, items, ratings, timestamps, user_ids, item_ids, explicit)


def encode_ids(values: npt.NDArray[Any], role: str, label: str) -> tuple[CodeArray, IdArray]:
    """Codes and the ascending ids: numbers where every id is a whole number, text otherwise."""
    import pandas as pd

    missing = pd.isna(values)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise DataError(f"{label}: {role} is empty in row {row + 1}; every row needs a {role}")
    codes, found = pd.factorize(values, sort=False)
    ids = _plain_ids(np.asarray(found))
    order = np.argsort(ids, kind="stable")
    rank = np.empty(len(ids), dtype=np.int32)
    rank[order] = np.arange(len(ids), dtype=np.int32)
    return rank[codes], ids[order]


def _plain_ids(found: IdArray) -> IdArray:
    """Whole numbers as int64 when all ids are (and read back as they were written), else text."""
    if found.dtype.kind in "iu":
        return found.astype(np.int64)
    if found.dtype.kind == "f" and (found == np.floor(found)).all():
        return found.astype(np.int64)
    text = [str(value) for value in found.tolist()]
    if all(_is_plain_number(value) for value in text):
        return np.array([int(value) for value in text], dtype=np.int64)
    return np.array(text, dtype=object)


def _is_plain_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19 and (digits == "0" or digits[0] != "0")


def numbers(values: npt.NDArray[Any], role: str, label: str) -> npt.NDArray[np.float64]:
    """``values`` as finite float64; the first that is not one is named with its row."""
    import pandas as pd

    array = np.asarray(pd.to_numeric(pd.Series(values), errors="coerce"), dtype=np.float64)
    bad = ~np.isfinite(array)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        given = values[row]
        what = "is missing (NaN)" if pd.isna(given) else f"is {given!r}, not a finite number"
        raise DataError(
            f"{label}: {role} {what} in row {row + 1} ({int(bad.sum()):,} such rows); "
            f"correct or remove them, or leave the {role} column out"
        )
    return array
