"""Scores of a trained model, by RecBole's own ``full_sort_predict``, or ``predict`` where a model has no other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.plugin import GroupedRows
from repro.rng import KeyArray
from repro_recbole.learning import ITEM, USER, InnerIds
from repro_recbole.surroundings import own_numbers

# How many users, and how many pairs, are scored in one call.
USERS = 256
PAIRS = 4096

Block = npt.NDArray[np.floating[Any]]


def grouped_rows(network: Any, size: int) -> GroupedRows:
    """The scores of a network, ``size`` users at a time; users and items are inner ids minus 1."""

    def rows(first: int, end: int) -> Block:
        with own_numbers():
            return _all_items(network, np.arange(first + 1, end + 1))[:, 1:]

    return GroupedRows(network.n_users - 1, size, rows)


def drawn_block(network: Any, users: InnerIds, items: InnerIds, keys: KeyArray) -> FloatArray:
    """Users by items, for a model that draws numbers when it scores: each user has their own draws.

    In one call, RecBole's Random draws the same list for all users.
    """
    import torch

    values = np.empty((len(users), len(items)))
    with own_numbers():
        for row, key in enumerate(keys):
            torch.default_generator.manual_seed(int(key >> np.uint64(1)))
            values[row] = _all_items(network, users[row : row + 1])[0, items]
    return values


def _all_items(network: Any, users: InnerIds) -> Block:
    """The scores of some users for all items, RecBole's padding included."""
    import torch

    with torch.no_grad():
        try:
            scores = network.full_sort_predict(_interaction(**{USER: users}))
        except NotImplementedError:
            return np.stack([_pair_by_pair(network, user) for user in users])
    return _values(scores).reshape(len(users), network.n_items)


def _pair_by_pair(network: Any, user: np.int64) -> Block:
    """The scores of a user for all items, as RecBole's trainer computes them for a model that scores only pairs."""
    items = np.arange(network.n_items)
    parts = [items[start : start + PAIRS] for start in range(0, len(items), PAIRS)]
    pairs = [_interaction(**{USER: np.full_like(part, user), ITEM: part}) for part in parts]
    return np.concatenate([_values(network.predict(part)) for part in pairs])


def _interaction(**columns: InnerIds) -> Any:
    import torch
    from recbole.data.interaction import Interaction

    return Interaction({name: torch.from_numpy(column) for name, column in columns.items()})


def _values(scores: Any) -> Block:
    values: Block = np.asarray(scores.detach().numpy())
    return values
