"""The values that a user's own code returns, as arrays: checked, with labels matched to ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data.interactions import FloatArray, IdArray
from repro.data.io.ids import id_text
from repro.errors import PluginError

FORMS = (
    "score(users, items) returns an array of users x items, score(user, items) one score for each item, and "
    "score(user, item) one number; NaN where there is no score"
)


def block(returned: Any, users: IdArray, items: IdArray, call: str) -> FloatArray:
    """Scores of users for items; the labels of a frame are ids, and what it lacks has no score."""
    if isinstance(returned, pd.DataFrame) and not (_is_unlabelled(returned.index) and _is_unlabelled(returned.columns)):
        rows, columns = positions(users, returned.index, f"{call}: user"), positions(items, returned.columns, call)
        return taken(taken(_floats(returned.to_numpy(), call), rows, 0), columns, 1)
    values = dense(returned) if is_sparse(returned) else _floats(returned, call)
    expected = (len(users), len(items))
    if values.shape != expected:
        raise PluginError(f"{call} returned an array of shape {values.shape}; expected {expected}: {FORMS}")
    return values


def vector(returned: Any, ids: IdArray, call: str) -> FloatArray:
    """One score for each id, in their order or labelled by them."""
    if isinstance(returned, Mapping):
        returned = pd.Series(dict(returned), dtype=float)
    if isinstance(returned, pd.Series) and not _is_unlabelled(returned.index):
        return taken(_floats(returned.to_numpy(), call), positions(ids, returned.index, call), 0)
    values = _floats(returned, call)
    if values.shape in ((1, len(ids)), (len(ids), 1)):
        values = values.reshape(-1)
    if values.shape != (len(ids),):
        raise PluginError(f"{call} returned an array of shape {values.shape}; expected ({len(ids)},): one for each")
    return values


def is_sparse(value: object) -> bool:
    """Whether a value is a matrix or an array of SciPy's sparse formats."""
    return type(value).__module__.startswith("scipy.sparse")


def dense(matrix: Any) -> FloatArray:
    """A sparse matrix as an array, with NaN where it stores nothing; a zero that is stored is a score."""
    stored = matrix.tocsr().copy()
    stored.sum_duplicates()
    stored = stored.tocoo()
    values = np.full(stored.shape, np.nan)
    values[stored.row, stored.col] = stored.data
    return values


def positions(ids: IdArray, labels: Any, what: str) -> npt.NDArray[np.int64]:
    """The position of each id among labels, by their text (7, 7.0 and "7" are one id); -1 where there is none."""
    places = {id_text(label): place for place, label in enumerate(np.asarray(labels, dtype=object).tolist())}
    if len(places) < len(labels):
        raise PluginError(f"{what}: a label occurs twice among the {len(labels):,}")
    places_of_ids = np.array([places.get(id_text(id_), -1) for id_ in ids.tolist()], dtype=np.int64)
    if len(ids) and len(labels) and (places_of_ids < 0).all():
        raise PluginError(
            f"{what}: none of the labels ({_first(list(places))}) is an id that was asked for ({_first(ids.tolist())})"
        )
    return places_of_ids


def taken(values: FloatArray, places: npt.NDArray[np.int64], axis: int) -> FloatArray:
    """``np.take``, with NaN where a place is -1."""
    result = np.take(values, np.maximum(places, 0), axis=axis) if values.shape[axis] else None
    if result is None:
        shape = list(values.shape)
        shape[axis] = len(places)
        return np.full(shape, np.nan)
    result[(slice(None),) * axis + (places < 0,)] = np.nan
    return result


def _floats(values: Any, call: str) -> FloatArray:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PluginError(f"{call} returned {type(values).__name__} that is no array of numbers: {error}") from None


def _is_unlabelled(index: Any) -> bool:
    return isinstance(index, pd.RangeIndex)


def _first(values: Sequence[object]) -> str:
    return ", ".join(map(str, values[:3])) + (", ..." if len(values) > 3 else "")
