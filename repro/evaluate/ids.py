"""External ids of several frames to one coding, fast enough for millions of rows of text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data.interactions import CodeArray, IdArray
from repro.data.io.values import encode_ids, refuse_inexact_ids

_SAMPLE = 4096


def encode_together(columns: Mapping[str, pd.Series], role: str) -> tuple[dict[str, CodeArray], IdArray]:
    """The codes of each column, and the ids they stand for, ascending as in :func:`repro.data.io.values.encode_ids`.

    ``columns`` are by the name of their frame. 7 in one and "7" in another are the same id, as everywhere.
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
    """Numbers as 64-bit whole numbers where that is what they are: joining them to others then loses none."""
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
    """The kind of numbers that are in a column; an empty text where it has others."""
    return part.dtype.kind if part.dtype.kind in "iuf" else ""


def _numbers_as_objects(part: pd.Series) -> pd.Series:
    """Numbers beside others: each a Python number, so that joining them to those neither changes nor loses one."""
    return part.astype(object) if part.dtype.kind in "iuf" else part


def _encode(values: npt.NDArray[Any], role: str, where: Callable[[int], str]) -> tuple[CodeArray, IdArray]:
    """As ``encode_ids``, but text that is one object in many rows is looked at once."""
    if values.dtype != object or not _mostly_shared(addresses := _addresses(values)):
        return encode_ids(values, role, "evaluate", where)
    heads = np.flatnonzero(np.concatenate([[True], addresses[1:] != addresses[:-1]]))
    of_head, objects = pd.factorize(addresses[heads])
    first = np.empty(len(objects), dtype=np.int64)
    first[of_head[::-1]] = heads[::-1]
    codes, ids = encode_ids(values[first], role, "evaluate", lambda position: where(int(first[position])))
    of_run = codes[of_head]
    if len(heads) == len(values):
        return of_run, ids
    return np.repeat(of_run, np.diff(np.append(heads, len(values)))), ids


def _addresses(values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Where in memory the object of each row is: rows with one address are equal without being compared."""

    class View:
        __array_interface__ = {  # noqa: RUF012
            **values.__array_interface__,
            "typestr": np.dtype(np.intp).str,
            "descr": [("", np.dtype(np.intp).str)],
        }

    return np.asarray(View())


def _mostly_shared(addresses: npt.NDArray[np.intp]) -> bool:
    """Whether rows share their objects, from a sample: otherwise to look at addresses is in vain."""
    sample = addresses[:: max(1, len(addresses) // _SAMPLE)]
    return len(sample) > 1 and len(np.unique(sample)) < 0.9 * len(sample)
