"""The factors of a user's own model: what its method ``state`` returns, or attributes with usual names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray

# The names under which models keep their factors, of users and of items; the first pair that fits is taken.
FACTOR_NAMES = (
    ("user_factors", "item_factors"),
    ("user_factors_", "item_factors_"),
    ("user_embeddings", "item_embeddings"),
    ("user_embeddings_", "item_embeddings_"),
    ("user_embedding", "item_embedding"),
    ("user_vectors", "item_vectors"),
    ("user_vecs", "item_vecs"),
    ("user_features", "item_features"),
    ("P", "Q"),
    ("P_", "Q_"),
    ("p", "q"),
    ("pu", "qi"),
    ("U", "V"),
    ("U_", "V_"),
    ("u_factors", "i_factors"),
    ("W", "H"),
    ("W_", "H_"),
    ("W_", "components_"),
    ("X", "Y"),
    ("X_", "Y_"),
)
BIAS_NAMES: Mapping[str, tuple[str, ...]] = {
    "user_bias": ("user_bias", "user_bias_", "user_biases", "user_biases_", "bu", "bu_", "b_u", "u_biases"),
    "item_bias": ("item_bias", "item_bias_", "item_biases", "item_biases_", "bi", "bi_", "b_i", "i_biases"),
    "mean": ("global_mean", "global_mean_", "global_bias", "mu", "mu_", "mean", "mean_"),
}


def factors_of_model(model: Any, n_users: int, n_items: int) -> dict[str, FloatArray]:
    """The state of a fitted model: factors and biases by the codes of the training data; empty where it has none.

    Attributes are taken where the model has no method ``state``: arrays with a row (or a column) for each user and
    item, in ascending order of their ids.
    """
    offered = getattr(model, "state", None)
    if callable(offered):
        state: dict[str, FloatArray] = offered()
        return state
    names = named_factors(model, n_users, n_items)
    if not names:
        return {}
    sizes = {"user_factors": n_users, "item_factors": n_items}
    state = {name: _turned(getattr(model, names[name]), size) for name, size in sizes.items()}
    for part, size in (("user_bias", n_users), ("item_bias", n_items)):
        if part in names:
            state[part] = np.asarray(_array(getattr(model, names[part])), dtype=np.float64).reshape(size)
    if "mean" in names:
        state["mean"] = np.asarray(float(getattr(model, names["mean"])))
    return state


def named_factors(model: Any, n_users: int, n_items: int) -> dict[str, str]:
    """By part of the state, the attribute of a model that has it; empty where no pair of attributes fits."""
    for users, items in FACTOR_NAMES:
        of_users, of_items = (_array(getattr(model, name, None)) for name in (users, items))
        if of_users is None or of_items is None or of_users.ndim != 2 or of_items.ndim != 2:
            continue
        widths = _width(of_users, n_users), _width(of_items, n_items)
        if widths[0] is None or widths[0] != widths[1]:
            continue
        names = {"user_factors": users, "item_factors": items}
        for part, known in BIAS_NAMES.items():
            shape = {"user_bias": n_users, "item_bias": n_items, "mean": 1}[part]
            fitting = (name for name in known if _size(getattr(model, name, None)) == shape)
            if (name := next(fitting, None)) is not None:
                names[part] = name
        return names
    return {}


def _array(value: Any) -> npt.NDArray[Any] | None:
    """Numbers as an array; also of a tensor of torch."""
    if value is None or callable(value):
        return None
    value = value.detach().cpu().numpy() if hasattr(value, "detach") else value
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    return array if array.dtype.kind in "iuf" else None


def _size(value: Any) -> int | None:
    array = _array(value)
    return None if array is None else array.size


def _width(array: npt.NDArray[Any], size: int) -> int | None:
    """The number of factors of an array with a row or a column for each of ``size``."""
    if array.shape[0] == size:
        return int(array.shape[1])
    return int(array.shape[0]) if array.shape[1] == size else None


def _turned(value: Any, size: int) -> FloatArray:
    array = np.asarray(_array(value), dtype=np.float64)
    return array if array.shape[0] == size else np.ascontiguousarray(array.T)
