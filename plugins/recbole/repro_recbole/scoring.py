"""Scores of a model that has learnt, by RecBole's own ``full_sort_predict``, or ``predict`` where it has none."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.streams import KeyArray
from repro_recbole.learning import ITEM, USER, InnerIds

# How many users are asked about in one call, and how many pairs.
USERS = 32
PAIRS = 4096

Block = npt.NDArray[np.floating[Any]]


def block(network: Any, users: InnerIds, items: InnerIds, together: int) -> FloatArray:
    """Users by items, for inner ids.

    A user is always asked about in the same company of ``together`` users, at the same place in it, and for all
    items: products of matrices round differently for other shapes and places, and a score should have the same
    bits whatever it is asked with.
    """
    values = np.empty((len(users), len(items)))
    companies = (users - 1) // together  # inner ids start with 1
    for company in np.unique(companies):
        first = 1 + company * together
        members = np.arange(first, min(first + together, network.n_users))
        rows = np.flatnonzero(companies == company)
        values[rows] = _all_items(network, members)[users[rows] - first][:, items]
    return values


def drawn_block(network: Any, users: InnerIds, items: InnerIds, keys: KeyArray) -> FloatArray:
    """Users by items, for a model that draws numbers when it scores: each user has draws of its own.

    In one call, RecBole's Random draws one list for all users.
    """
    import torch

    values = np.empty((len(users), len(items)))
    for row, key in enumerate(keys):
        torch.manual_seed(int(key >> np.uint64(1)))
        values[row] = _all_items(network, users[row : row + 1])[0, items]
    return values


def _all_items(network: Any, users: InnerIds) -> Block:
    """The scores of some users for all items, RecBole's padding included."""
    try:
        scores = network.full_sort_predict(_interaction(**{USER: users}))
    except NotImplementedError:
        return np.stack([_pair_by_pair(network, user) for user in users])
    return _values(scores).reshape(len(users), network.n_items)


def _pair_by_pair(network: Any, user: np.int64) -> Block:
    """The scores of a user for all items, as RecBole's trainer has them where a model only knows pairs."""
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
