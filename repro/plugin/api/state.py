"""The state of a fitted recommender: its factors and biases, as arrays by the codes of the training data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import PluginError

# The arrays that a state may have, and what their rows and columns are.
STATE: dict[str, tuple[str, ...]] = {
    "user_factors": ("users", "factors"),
    "item_factors": ("items", "factors"),
    "implicit_factors": ("items", "factors"),
    "user_bias": ("users",),
    "item_bias": ("items",),
    "mean": (),
}


def by_code(values: npt.ArrayLike, positions: npt.NDArray[np.integer[Any]]) -> FloatArray:
    """Values by code, from values by a framework's own position; NaN for codes with a negative position."""
    own = np.asarray(values, dtype=np.float64)
    placed = np.full((len(positions), *own.shape[1:]), np.nan)
    placed[positions >= 0] = own[positions[positions >= 0]]
    return placed


def checked_state(label: str, state: object, n_users: int, n_items: int) -> dict[str, FloatArray]:
    """The arrays of a state in double precision; refused if a name is unknown or a shape does not fit the codes."""
    if state is None:
        return {}
    if not isinstance(state, Mapping) or not set(state) <= set(STATE):
        given = sorted(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise PluginError(f"{label} returned {given} from state; expected a mapping of some of {', '.join(STATE)}")
    arrays: dict[str, FloatArray] = {}
    sizes: dict[str, int] = {"users": n_users, "items": n_items}
    for name, kinds in STATE.items():
        if name not in state:
            continue
        array = np.asarray(state[name])
        if array.dtype.kind not in "biuf":
            raise PluginError(f"{label} returned {name} from state that are not numbers: {array.dtype}")
        if array.ndim == len(kinds) == 2:
            sizes.setdefault("factors", array.shape[1])
        if array.ndim != len(kinds) or array.shape != tuple(sizes[kind] for kind in kinds):
            expected = " by ".join(f"{sizes[kind]:,} {kind}" if kind in sizes else kind for kind in kinds) or "a number"
            raise PluginError(f"{label} returned {name} of shape {array.shape} from state; expected {expected}")
        arrays[name] = np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    return arrays
