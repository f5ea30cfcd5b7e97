"""Codes for the ids of several frames, fast enough for millions of rows of text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data.interactions import CodeArray, IdArray
from repro.data.io.values import encode_ids, refuse_inexact_ids


def encode_together(columns: Mapping[str, pd.Series], role: str) -> tuple[dict[str, CodeArray], IdArray]:
    """The codes of each column, and the ids that they stand for, as in :func:`repro.data.io.values.encode_ids`.

    ``columns`` has a column for each frame, by its name. 7 in one frame and "7" in another are the same id.
    """
    parts = {label: _whole_numbers(part, role, label) for label, part in columns.items()}
    if len({_kind(part) for part in parts.values() if len(part)}) > 1:
        parts = {label: _numbers_as_objects(part) for label, part in parts.items()}
    values = pd.concat(list(parts.values()), ignore_index=True).to_numpy()
    starts = np.cumsum([0, *(len(part) for part in parts.values())])

    def where(position: int) -> str:
        part = int(np.searchsorted(starts, position, side="right")) - 1
        return f"row {position - starts[part] + 1:,} of {list(parts)[part]}"

    codes, ids = _encode(values, role, where)
    return dict(zip(parts, np.split(codes, starts[1:-1]), strict=True)), ids


def _whole_numbers(part: pd.Series, role: str, label: str) -> pd.Series:
    """Whole numbers as int64, so that concatenating them with other columns changes none."""
    if part.dtype.kind not in "uf" or part.hasnans:
        return part
    values = part.to_numpy()
    if values.dtype.kind == "f":
        refuse_inexact_ids(values, role, label)
        whole = bool((values == np.floor(values)).all())
    else:
        whole = bool((values <= np.iinfo(np.int64).max).all())
    return pd.Series(values.astype(np.int64)) if whole else part


def _kind(part: pd.Series) -> str:
    """The kind of the numbers in a column; an empty text where it has other values."""
    return part.dtype.kind if part.dtype.kind in "iuf" else ""


def _numbers_as_objects(part: pd.Series) -> pd.Series:
    """Numbers as Python numbers, so that concatenating them with text changes none."""
    return part.astype(object) if part.dtype.kind in "iuf" else part


def _encode(values: npt.NDArray[Any], role: str, where: Callable[[int], str]) -> tuple[CodeArray, IdArray]:
    """As ``encode_ids``, but each run of rows with one and the same object is encoded once.

    The users of lists are such runs: 1.5 million rows of text ids in lists of 500 are encoded ten times faster.
    """
    if values.dtype != object or not len(values):
        return encode_ids(values, role, "evaluate", where)
    values = np.ascontiguousarray(values)
    # An array of objects holds their addresses: the buffer is read as such, and nothing is ever followed.
    addresses = np.ndarray(values.shape, np.intp, buffer=values)
    starts = np.flatnonzero(np.concatenate([[True], addresses[1:] != addresses[:-1]]))
    if 2 * len(starts) > len(values):
        return encode_ids(values, role, "evaluate", where)
    codes, ids = encode_ids(values[starts], role, "evaluate", lambda run: where(int(starts[run])))
    return np.repeat(codes, np.diff(starts, append=len(values))), ids
