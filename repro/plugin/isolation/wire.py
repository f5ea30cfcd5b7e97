"""The wire format between the host and its workers: a header in JSON, and arrays as raw bytes; no pickles.

A message is four bytes of mark and version, the length of the header (32 bits, little-endian), the header, and
the bytes of each array that the header announces, in C order.

It is not Arrow IPC because a worker's environment has no pyarrow: it holds the pinned requirements of the framework
and numpy, pandas, pluggy and scipy, and another large binary package would conflict with the versions that some
frameworks pin. The messages are a few flat numeric arrays, for which raw bytes are as fast.
"""

from __future__ import annotations

import itertools
import json
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import Interactions
from repro.plugin.api.evaluator import Case, Observed, PipelineFold
from repro.plugin.api.queries import History, Queries
from repro.plugin.api.scores import Scores
from repro.plugin.api.training import TrainingData

VERSION = 2
MARK = b"RPW" + bytes([VERSION])
LONGEST_HEADER = 1 << 24
LARGEST_ARRAY = 1 << 40
TYPES = ("|u1", "<i4", "<i8", "<f8")
# The types of arrays that a message may lack; its header has a flag for each.
_OPTIONAL = {"timestamps": "<i8", "sessions": "<i4", "moments": "<i8", "state": "|u1", "listed": "|u1"}

AnyArray = npt.NDArray[Any]
Message = tuple[dict[str, Any], list[AnyArray]]


class WireError(Exception):
    """The received bytes are not a message of this version."""


def encode(header: dict[str, Any], arrays: Sequence[AnyArray] = ()) -> list[bytes]:
    """A message as pieces to write one after the other."""
    for array in arrays:
        if array.dtype.str not in TYPES:
            raise WireError(f"an array of type {array.dtype}; {', '.join(TYPES)} can be sent")
    announced = [{"type": array.dtype.str, "shape": list(array.shape)} for array in arrays]
    text = json.dumps({**header, "arrays": announced}, allow_nan=False).encode()
    return [MARK, struct.pack("<I", len(text)), text, *(array.tobytes() for array in arrays)]


def decode(read: Callable[[int], bytes | bytearray]) -> Message:
    """The next message; ``read(n)`` gives exactly n bytes, or raises EOFError."""
    mark = read(len(MARK))
    if mark[:3] != MARK[:3]:
        raise WireError(f"bytes that are not a message: they start with {bytes(mark)!r}")
    if mark != MARK:
        raise WireError(f"version {mark[3]} of the wire format, and this side speaks version {VERSION}")
    (length,) = struct.unpack("<I", read(4))
    if length > LONGEST_HEADER:
        raise WireError(f"a header of {length:,} bytes, more than {LONGEST_HEADER:,}")
    try:
        header = json.loads(read(length))
    except (ValueError, RecursionError) as error:
        raise WireError(f"a header that is not JSON: {error}") from None
    announced = header.pop("arrays", None) if isinstance(header, dict) else None
    if not isinstance(announced, list):
        raise WireError("a header that announces no arrays")
    return header, [_array(entry, read) for entry in announced]


def _array(announced: object, read: Callable[[int], bytes | bytearray]) -> AnyArray:
    match announced:
        case {"type": str(kind), "shape": list(shape)} if kind in TYPES and all(
            type(n) is int and 0 <= n < 1 << 40 for n in shape
        ):
            dtype = np.dtype(kind)
            size = math.prod(shape) * dtype.itemsize
            if size > LARGEST_ARRAY:
                raise WireError(f"an array of {size:,} bytes, more than {LARGEST_ARRAY:,}")
            try:
                return np.frombuffer(read(size), dtype).reshape(shape)
            except (MemoryError, ValueError) as error:  # too large for this machine, or too many dimensions
                raise WireError(f"an array of shape {shape} that cannot be made: {error}") from None
    raise WireError(f"an array announced as {announced!r:.80}; expected one of {', '.join(TYPES)} and a shape")


def _pack(**arrays: AnyArray | None) -> Message:
    """Arrays of which some may be None: a header with a flag for each, and the others."""
    present = [array.astype(_OPTIONAL[name]) for name, array in arrays.items() if array is not None]
    return {name: array is not None for name, array in arrays.items()}, present


def _unpack(header: dict[str, Any], left: list[AnyArray], *names: str) -> list[Any]:
    """The arrays that :func:`_pack` packed, taken from the start of ``left``; None for those that it lacked."""
    return [left.pop(0) if header[name] else None for name in names]


def rows_to_arrays(rows: Interactions) -> Message:
    """Interactions as a header and arrays; ids as numbers, or as concatenated text."""
    header, arrays = _pack(timestamps=rows.timestamps)
    arrays = [rows.users.astype("<i4"), rows.items.astype("<i4"), rows.ratings.astype("<f8"), *arrays]
    text: list[str] = []
    for role, ids in (("user", rows.user_ids), ("item", rows.item_ids)):
        is_text, of_ids = _column_to_arrays(ids)
        text += [role] if is_text else []
        arrays += of_ids
    return {"explicit": rows.explicit, **header, "text": text}, arrays


def _column_to_arrays(values: AnyArray) -> tuple[bool, list[AnyArray]]:
    """Whether a column is text, and its arrays: numbers as they are, anything else as concatenated text and offsets."""
    for kinds, sent in (("b", "|u1"), ("iu", "<i8"), ("f", "<f8")):
        if values.dtype.kind in kinds:
            return False, [values.astype(sent if values.dtype.str not in TYPES else values.dtype)]
    parts = [str(value).encode(errors="surrogatepass") for value in values]
    return True, [np.frombuffer(b"".join(parts), np.uint8), np.cumsum([0, *map(len, parts)], dtype="<i8")]


def _arrays_to_column(text: bool, left: list[AnyArray]) -> AnyArray:
    """The column whose arrays are at the start of ``left``."""
    if not text:
        return left.pop(0)
    content, offsets = left.pop(0).tobytes(), left.pop(0).tolist()
    parts = [content[start:end].decode(errors="surrogatepass") for start, end in itertools.pairwise(offsets)]
    return np.array(parts, dtype=object)


def arrays_to_rows(header: dict[str, Any], arrays: Sequence[AnyArray]) -> Interactions:
    """The inverse of :func:`rows_to_arrays`."""
    users, items, ratings, *left = arrays
    (timestamps,) = _unpack(header, left, "timestamps")
    user_ids, item_ids = (_arrays_to_column(role in header["text"], left) for role in ("user", "item"))
    return Interactions(users, items, ratings, timestamps, user_ids, item_ids, header["explicit"])


def training_to_arrays(train: TrainingData) -> Message:
    """Training data as a header and arrays: the interactions, then sessions and columns."""
    header, arrays = rows_to_arrays(train)
    parts: list[dict[str, Any]] = []
    optional = {"sessions": {} if train.sessions is None else {"": train.sessions}}
    for about, columns in (optional | {"user": train.user_columns, "item": train.item_columns}).items():
        for name, values in columns.items():
            text, of_column = _column_to_arrays(values)
            parts.append({"about": about, "name": name, "text": text, "arrays": len(of_column)})
            arrays += of_column
    return {**header, "columns": parts}, arrays


def arrays_to_training(header: dict[str, Any], arrays: Sequence[AnyArray]) -> TrainingData:
    """The inverse of :func:`training_to_arrays`."""
    count = len(arrays) - sum(part["arrays"] for part in header["columns"])
    left = list(arrays[count:])
    columns: dict[str, dict[str, AnyArray]] = {"sessions": {}, "user": {}, "item": {}}
    for part in header["columns"]:
        columns[part["about"]][part["name"]] = _arrays_to_column(part["text"], left)
    return replace(
        TrainingData.of(arrays_to_rows(header, arrays[:count])),
        sessions=columns["sessions"].get(""),
        user_columns=columns["user"],
        item_columns=columns["item"],
    )


def queries_to_arrays(queries: Queries, items: AnyArray) -> Message:
    """Queries without their history, and items, as a header and arrays."""
    header, arrays = _pack(sessions=queries.sessions, moments=queries.moments)
    return header, [queries.users.astype("<i4"), items.astype("<i4"), *arrays]


def arrays_to_queries(header: dict[str, Any], arrays: Sequence[AnyArray], history: History) -> tuple[Queries, AnyArray]:
    """The inverse of :func:`queries_to_arrays`."""
    users, items, *left = arrays
    return Queries(users, history, *_unpack(header, left, "sessions", "moments")), items


def case_to_arrays(case: Case) -> Message:
    """A case for an evaluator as a header and arrays."""
    flags, arrays = _pack(state=case.scores.state, listed=case.listed)
    arrays = [case.order.astype("<i4"), case.scores.values.astype("<f8"), *arrays]
    parts = []
    for rows in (case.train, case.test):
        header, of_rows = rows_to_arrays(rows)
        parts.append({**header, "arrays": len(of_rows)})
        arrays += of_rows
    return {**flags, "scale": list(case.scale), "train": parts[0], "test": parts[1]}, arrays


def arrays_to_case(header: dict[str, Any], arrays: Sequence[AnyArray]) -> Case:
    """The inverse of :func:`case_to_arrays`."""
    order, values, *left = arrays
    state, listed = _unpack(header, left, "state", "listed")
    split = header["train"]["arrays"]
    train, test = arrays_to_rows(header["train"], left[:split]), arrays_to_rows(header["test"], left[split:])
    low, high = header["scale"]
    return Case(
        Scores(values, state), train, test, order, (low, high), None if listed is None else listed.astype(np.bool_)
    )


def observed_to_arrays(observed: Observed) -> Message:
    """An answer of an evaluator as a header and arrays, because JSON has no NaN."""
    values = observed.per_user
    arrays: list[AnyArray] = [] if observed.value is None else [np.array([observed.value], "<f8")]
    if values is not None:
        arrays += [np.array(list(values), "<i4"), np.array(list(values.values()), "<f8")]
    return {"value": observed.value is not None, "per_user": values is not None}, arrays


def arrays_to_observed(header: dict[str, Any], arrays: Sequence[AnyArray]) -> Observed:
    """The inverse of :func:`observed_to_arrays`."""
    left = list(arrays)
    value = float(left.pop(0)[0]) if header["value"] else None
    per_user = dict(zip(left[0].tolist(), left[1].tolist(), strict=True)) if header["per_user"] else None
    return Observed(value, per_user)


def folds_to_arrays(folds: Sequence[PipelineFold]) -> Message:
    """The folds of a framework's whole evaluation as a header and arrays."""
    arrays: list[AnyArray] = []
    headers = []
    for fold in folds:
        flags, state = _pack(state=fold.scores.state)
        reported = np.array(list(fold.reported.values()), "<f8")
        arrays += [fold.train.astype("<i8"), fold.test.astype("<i8"), fold.scores.values.astype("<f8"), reported]
        arrays += state
        headers.append({"measures": list(fold.reported), **flags})
    return {"folds": headers}, arrays


def arrays_to_folds(header: dict[str, Any], arrays: Sequence[AnyArray]) -> list[PipelineFold]:
    """The inverse of :func:`folds_to_arrays`."""
    left = list(arrays)
    folds = []
    for fold in header["folds"]:
        train, test, values, numbers = (left.pop(0) for _ in range(4))
        (state,) = _unpack(fold, left, "state")
        reported = dict(zip(fold["measures"], numbers.tolist(), strict=True))
        folds.append(PipelineFold(train, test, Scores(values, state), reported))
    return folds
