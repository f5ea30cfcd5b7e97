"""Keys of the users of a table, which make results independent of their order in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import DataError
from repro.rng import KeyArray, child_keys, id_keys, stream

Users = Sequence[object] | npt.NDArray[Any]


def user_keys(table: FloatArray, users: Users | None, seed: int, purpose: str) -> tuple[KeyArray, npt.NDArray[np.intp]]:
    """The key of each user's random stream, and an order of users that is independent of the columns.

    ``table`` is systems x users. Without ids, users are identified by their position in the sorted table.
    """
    root = stream(seed, "stats", purpose)
    n_users = table.shape[1]
    if users is None:
        order = np.lexsort(table[::-1]) if len(table) else np.arange(n_users)
        keys = np.empty(n_users, dtype=np.uint64)
        keys[order] = child_keys(root, np.arange(n_users, dtype=np.uint64))
        return keys, order
    if len(users) != n_users:
        raise DataError(f"there are {len(users):,} ids for {n_users:,} users")
    keys = child_keys(root, id_keys(users))
    order = np.argsort(keys, kind="stable")
    if (keys[order][1:] == keys[order][:-1]).any():
        raise DataError("a user occurs twice; a paired test needs one value for each user and system")
    return keys, order
