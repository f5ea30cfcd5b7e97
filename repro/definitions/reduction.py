"""Reduction of a training set to the fewest rows that still show something."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from repro.data.interactions import Interactions
from repro.definitions.training_sets import interactions


def fewest_rows(train: Interactions, shows: Callable[[Interactions], bool]) -> Interactions:
    """A training set of rows of ``train`` that still shows something, and without any further row no longer does.

    Halves, quarters and so on are removed first, then single rows; users and items without rows go with them.
    """
    kept = np.arange(len(train))
    size = max(len(kept) // 2, 1)
    while True:
        removed = False
        start = 0
        while start < len(kept) and len(kept) > 1:
            fewer = np.concatenate([kept[:start], kept[start + size :]])
            if len(fewer) and shows(_without_unused(train, fewer)):
                kept, removed = fewer, True
            else:
                start += size
        if size == 1 and not removed:
            return _without_unused(train, kept)
        size = max(size // 2, 1)


def _without_unused(train: Interactions, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Interactions:
    """Some rows, with the users and items that they have as numbers from 1."""
    users, user_codes = np.unique(train.users[rows], return_inverse=True)
    items, item_codes = np.unique(train.items[rows], return_inverse=True)
    timestamps = None if train.timestamps is None else train.timestamps[rows]
    return interactions(user_codes, item_codes, train.ratings[rows], (len(users), len(items)), timestamps)
