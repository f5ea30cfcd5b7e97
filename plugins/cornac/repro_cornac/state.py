"""The factors and biases of Cornac's models, under the names of a state."""

from __future__ import annotations

from typing import Any

import numpy as np

from repro.data.interactions import FloatArray
from repro.plugin import by_code
from repro_cornac.dataset import InnerArray

_FACTORS = {"user_factors": "u_factors", "item_factors": "i_factors"}
_BIASES = {"user_bias": "u_biases", "item_bias": "i_biases", "mean": "global_mean"}
_ITEM_BIAS = {"item_bias": "i_biases"}
_PROBABILISTIC = {"user_factors": "U", "item_factors": "V"}
# The attributes of each class that has any.
STATES = {
    "MF": _FACTORS | _BIASES,
    "SVD": _FACTORS | _BIASES,
    "NMF": _FACTORS | _BIASES,
    "BaselineOnly": _BIASES,
    "PMF": _PROBABILISTIC,
    "IBPR": _PROBABILISTIC,
    "BPR": _FACTORS | _ITEM_BIAS,
    "WBPR": _FACTORS | _ITEM_BIAS,
    "MMMF": _FACTORS | _ITEM_BIAS,
}


def state_of(name: str, model: Any, users: InnerArray, items: InnerArray) -> dict[str, FloatArray]:
    """The state of a fitted model, without biases that it does not use.

    ``users`` and ``items`` have the inner id of each code.
    """
    state: dict[str, FloatArray] = {}
    for part, own in STATES.get(name, {}).items():
        if part.endswith("factors") or getattr(model, "use_bias", True):
            values = np.asarray(getattr(model, own), dtype=np.float64)
            state[part] = by_code(values, users if part.startswith("user") else items) if values.ndim else values
    return state
