"""Checked values: ids as codes, finite numbers, times in seconds. A bad value is reported with its row."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pyarrow.csv import ConvertOptions

from repro.data.interactions import CodeArray, FloatArray, IdArray, Interactions
from repro.errors import DataError, nearest

Values = npt.NDArray[Any] | pd.Categorical
Where = Callable[[int], str]  # the place of a row in its source, in words
ROLES = ("user", "item", "rating", "timestamp")
ID_DIGITS = 18  # an id with more digits is text
# Cells that mean "no number": those of pyarrow, and those that Python and pandas write, in any case.
_MISSING = frozenset(ConvertOptions().null_values)
_MISSING_LOWER = ("nan", "none", "<na>", "null")


def data_row(position: int) -> str:
    """The place of a row, counted from 1."""
    return f"row {position + 1:,}"


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


def encode_ids(values: Values, role: str, label: str, where: Where = data_row) -> tuple[CodeArray, IdArray]:
    """Codes and the ascending ids: numbers where every id is a whole number, text otherwise.

    Ids are compared as text: 7, 7.0 and "7" are one id, and any other object is its text.
    """
    if isinstance(values, pd.Categorical) and _are_codes(values):
        return np.asarray(values.codes, dtype=np.int32), values.categories.to_numpy()
    codes, index = pd.factorize(values, sort=False)
    distinct = np.asarray(index)
    empty = codes < 0
    if distinct.dtype.kind in "OUS":
        empty |= np.isin(codes, np.flatnonzero([not str(value).strip() for value in distinct.tolist()]))
    if empty.any():
        row = int(np.flatnonzero(empty)[0])
        raise DataError(f"{label}: {role} is empty in {where(row)}; every row needs one")
    refuse_inexact_ids(distinct, role, label, lambda at: where(int(np.argmax(codes == at))))
    ids = _plain_ids(distinct)
    order = np.argsort(ids, kind="stable")
    if (ids[order][1:] == ids[order][:-1]).any():  # 7 and "7" in one column
        ids, merged = np.unique(ids, return_inverse=True)
        return merged.astype(np.int32)[codes], ids
    rank = np.empty(len(ids), dtype=np.int32)
    rank[order] = np.arange(len(ids), dtype=np.int32)
    return rank[codes], ids[order]


def refuse_inexact_ids(values: npt.NDArray[Any], role: str, label: str, where: Where = data_row) -> None:
    """Reject floats so large that each stands for several whole numbers: such an id would match others too."""
    if values.dtype.kind == "f":
        inexact = np.abs(values) >= exact_below(values.dtype)
    elif values.dtype == object:
        inexact = np.array([isinstance(id_, float | np.floating) and _is_inexact(id_) for id_ in values.tolist()], bool)
    else:
        return
    if inexact.any():
        at = int(np.flatnonzero(inexact)[0])
        raise DataError(f"{label}: {role} is {_inexact_id(values[at])} in {where(at)}; {_READ_AS_TEXT}")


_READ_AS_TEXT = 'keep ids as whole numbers or as text, such as pandas.read_csv(..., dtype={"item": str})'


def exact_below(dtype: np.dtype[Any]) -> float:
    """The lowest whole number above which floats of this type skip some."""
    return float(2.0 ** (np.finfo(dtype).nmant + 1))


def _is_inexact(value: float | np.floating[Any]) -> bool:
    return abs(float(value)) >= exact_below(np.asarray(value).dtype)


def _inexact_id(value: float | np.floating[Any]) -> str:
    bits = np.finfo(np.asarray(value).dtype).nmant + 1
    return f"{value!s}, a {np.asarray(value).dtype} of at least 2^{bits}, which stands for several whole numbers"


def _are_codes(values: pd.Categorical) -> bool:
    """Whether a reader has coded the ids already: ascending numbers, all of which occur, and one in every row."""
    if values.categories.dtype != np.int64 or not len(values) or values.codes.min() < 0:
        return False
    occur = np.bincount(values.codes, minlength=len(values.categories)) > 0
    return bool(occur.all()) and bool(values.categories.is_monotonic_increasing)


def _plain_ids(ids: IdArray) -> IdArray:
    """Whole numbers as int64 when all ids are (and read back as they were written), else text."""
    if ids.dtype.kind == "i" or (ids.dtype.kind == "u" and (ids <= np.iinfo(np.int64).max).all()):
        return ids.astype(np.int64)
    if ids.dtype.kind == "f" and (ids == np.floor(ids)).all():
        return ids.astype(np.int64)
    text = [id_text(value) for value in ids.tolist()]
    if all(_is_plain_number(value) for value in text):
        return np.array([int(value) for value in text], dtype=np.int64)
    return np.array(text, dtype=object)


def id_text(value: object) -> str:
    """An id as text: a whole number without decimals."""
    if isinstance(value, float | np.floating):
        if _is_inexact(value):
            raise DataError(f"an id is {_inexact_id(value)}; {_READ_AS_TEXT}")
        if float(value).is_integer():
            return str(int(value))
    return str(value)


def _is_plain_number(text: str) -> bool:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= ID_DIGITS):
        return False
    return text == "0" or digits[0] != "0"  # "007" and "-0" would not read back as they were written


def numbers(values: Values, role: str, label: str, where: Where = data_row) -> npt.NDArray[np.float64]:
    """``values`` as finite float64; the first that is not one is named with its row."""
    array = _floats(np.asarray(values))
    bad = ~np.isfinite(array)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"{label}: {role} {_fault(values[row], 'a finite number')} in {where(row)} "
            f"({_rows(int(bad.sum()))}); correct or remove them, or leave the {role} column out"
        )
    return array


def numbers_or_missing(values: Values | pd.Series, role: str, label: str, where: Where = data_row) -> FloatArray:
    """``values`` as float64, NaN where there is none. Text is parsed exactly, which pandas does not promise."""
    series = pd.Series(values).astype(object) if isinstance(values, pd.Categorical) else pd.Series(values)
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
    kind = getattr(values.dtype, "kind", "O")
    if time_format is None and kind in "iu":
        return np.asarray(values, dtype=np.int64)
    series = pd.Series(np.asarray(values))
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
