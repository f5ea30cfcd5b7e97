"""Scores in which what the algorithm knows nothing about is marked as unscored."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.plugin import SCORED, UNSCORED, Scores

Mask = npt.NDArray[np.bool_]


def scores_where(known: Mask, values: FloatArray) -> Scores:
    """``values`` where ``known``; unscored (and NaN) elsewhere. ``known`` is broadcast to the values."""
    known = np.broadcast_to(known, values.shape)
    return Scores(np.where(known, values, np.nan), np.where(known, SCORED, UNSCORED).astype(np.uint8))


def block_where(known_users: Mask, known_items: Mask, values: FloatArray) -> Scores:
    """A block of users by items, unscored unless both the user and the item are known."""
    return scores_where(known_users[:, None] & known_items[None, :], values)
