"""Checked values: ids as codes, finite numbers, times in seconds. A bad value is reported with its row."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pyarrow.csv import ConvertOptions

from repro.data.interactions import FloatArray, Interactions
from repro.data.io.ids import Values, Where, data_row, encode_ids
from repro.errors import DataError, nearest

ROLES = ("user", "item", "rating", "timestamp")
# Cells that mean "no number": those of pyarrow, and those that Python and pandas write, in any case.
_MISSING = frozenset(ConvertOptions().null_values)
_MISSING_LOWER = ("nan", "none", "<na>", "null")


def interactions_from_columns(
    columns: Mapping[str, Values],
    label: str,
    available: Sequence[str] = (),
    *,
    where: Where = data_row,
    time_format: str | None = None,
) -> Interactions:
    """Interactions from columns for ``user``, ``item`` and perhaps ``rating`` and ``timestamp``.

    ``label`` names the source in messages, ``available`` are the names of its columns, and ``where`` gives the place
    of a row in the source, such as its line.
    """
    for role in ("user", "item"):
        if role not in columns:
            has = f"; it has {', '.join(available)}" if available else ""
            raise DataError(f"{label} has no column '{role}'{has}{nearest(role, available)}")
    if not len(columns["user"]):
        raise DataError(f"{label} has no rows: nothing to evaluate")
    users, user_ids = encode_ids(columns["user"], "user", label, where)
    items, item_ids = encode_ids(columns["item"], "item", label, where)
    explicit = "rating" in columns
    ratings = numbers(columns["rating"], "rating", label, where) if explicit else np.ones(len(users), dtype=np.float64)
    timestamps = None
    if "timestamp" in columns:
        timestamps = seconds(columns["timestamp"], label, where, time_format)
    return Interactions(users, items, ratings, timestamps, user_ids, item_ids, explicit)


def plain_values(values: Values) -> npt.NDArray[Any]:
    """A column as an array of NumPy."""
    if not isinstance(values, pa.ChunkedArray):
        return np.asarray(values)
    if not values.null_count and (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        return values.to_numpy()
    return np.asarray(values.to_pandas().to_numpy())


def numbers(values: Values, role: str, label: str, where: Where = data_row) -> npt.NDArray[np.float64]:
    """``values`` as finite float64; the first that is not one is named with its row."""
    values = plain_values(values)
    array = _floats(values)
    bad = ~np.isfinite(array)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"{label}: {role} {_fault(values[row], 'a finite number')} in {where(row)} "
            f"({_rows(int(bad.sum()))}); correct or remove them, or leave the {role} column out"
        )
    return array


def numbers_or_missing(values: Values, role: str, label: str, where: Where = data_row) -> FloatArray:
    """``values`` as float64, NaN where there is none. Text is parsed exactly, which pandas does not promise."""
    series = pd.Series(plain_values(values))
    try:
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        return np.array([_number(value, row, role, label, where) for row, value in enumerate(series)])


def _number(value: object, row: int, role: str, label: str, where: Where) -> float:
    text = str(value).strip()
    if text in _MISSING or text.lower() in _MISSING_LOWER:
        return math.nan
    try:
        return float(text)
    except ValueError:
        raise DataError(
            f"{label}: {role} is {str(value)!r}, not a number, in {where(row)}; leave it empty where there is none "
            "(missing.rank says what that means)"
        ) from None


def is_number(text: str) -> bool:
    """Whether Python reads the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _floats(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The nearest float64 of each value, NaN for what is not a number; pandas alone may miss the last bit of text."""
    if values.dtype.kind in "OUS":
        with contextlib.suppress(pa.ArrowInvalid, pa.ArrowTypeError):  # blanks, or not all of it is text
            text = pa.array(values, type=pa.string(), from_pandas=True)
            return np.asarray(text.cast(pa.float64()).to_numpy(zero_copy_only=False))
    if values.dtype.kind in "fiu":
        return np.asarray(values, dtype=np.float64)
    array = np.array(pd.to_numeric(pd.Series(values), errors="coerce"), dtype=np.float64)
    if values.dtype.kind in "OUS":
        for row in np.flatnonzero(np.isfinite(array)):
            try:
                array[row] = float(values[row])
            except ValueError:  # pandas passes over what comes after a zero byte
                array[row] = np.nan
    return array


def seconds(
    values: Values, label: str, where: Where = data_row, time_format: str | None = None
) -> npt.NDArray[np.int64]:
    """Timestamps as whole numbers: numbers as they are, dates and times as seconds since 1970 (UTC).

    ``time_format`` reads dates in another form than ISO 8601, in the notation of ``strptime``.
    """
    values = plain_values(values)
    kind = values.dtype.kind
    if time_format is None and kind in "iu":
        return np.asarray(values, dtype=np.int64)
    series = pd.Series(values)
    numeric = time_format is None and kind != "M" and pd.to_numeric(series, errors="coerce").notna().any()
    if numeric:  # where some are numbers, text among them is a mistake, not a date
        stamps = numbers(values, "timestamp", label, where)
        if (beyond := np.abs(stamps) >= 2.0**63).any():
            row = int(np.flatnonzero(beyond)[0])
            raise DataError(f"{label}: timestamp is {stamps[row]:g} in {where(row)}, which is not a time in seconds")
        return stamps.astype(np.int64)
    if kind == "M":
        times = pd.to_datetime(series, errors="coerce", utc=True)
    else:
        times = pd.to_datetime(series.astype(str), format=time_format or "ISO8601", errors="coerce", utc=True)
    if times.isna().any():
        row = int(np.flatnonzero(times.isna())[0])
        expected = f"a time in the form {time_format}" if time_format else "a number or an ISO 8601 time"
        raise DataError(
            f"{label}: timestamp {_fault(series.iloc[row], expected)} in {where(row)} "
            f"({_rows(int(times.isna().sum()))}); state time_format, or leave the timestamp column out"
        )
    return times.dt.tz_localize(None).to_numpy().astype("datetime64[s]").astype(np.int64)


def _fault(value: object, expected: str) -> str:
    if pd.isna(value) or not str(value).strip():  # type: ignore[call-overload]
        return "is missing (NaN)"
    return f"is {str(value)!r}, not {expected}"


def _rows(count: int) -> str:
    return "1 such row" if count == 1 else f"{count:,} such rows"
