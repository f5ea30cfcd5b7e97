"""Training rows as Cornac's own data set."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, Interactions
from repro.errors import PluginError

InnerArray = npt.NDArray[np.int64]
UNKNOWN = -1


@dataclass(frozen=True)
class Known:
    """The users, or items, that have training rows: the code of each inner id, and the inner id of each code."""

    codes: InnerArray
    inner: InnerArray


def known_of(codes: CodeArray, size: int) -> Known:
    """Inner ids in the order of first appearance; UNKNOWN for a code that does not occur."""
    present, first = np.unique(codes, return_index=True)
    ordered = present[np.argsort(first)].astype(np.int64)
    inner = np.full(size, UNKNOWN, dtype=np.int64)
    inner[ordered] = np.arange(len(ordered))
    return Known(ordered, inner)


def cornac_dataset(train: Interactions, seed: int) -> tuple[Any, Known, Known]:
    """The rows as ``cornac.data.Dataset.from_uir`` would have them, with the known users and items."""
    from cornac.data import Dataset

    if not len(train):
        raise PluginError("Cornac needs at least one training row")
    rows = _first_of_each_pair(train)
    users = known_of(train.users[rows], train.n_users)
    items = known_of(train.items[rows], train.n_items)
    triples = (
        users.inner[train.users[rows]],
        items.inner[train.items[rows]],
        train.ratings[rows].astype(np.float64),
    )
    maps = [OrderedDict((int(code), n) for n, code in enumerate(known.codes)) for known in (users, items)]
    return Dataset(len(users.codes), len(items.codes), *maps, triples, seed=seed), users, items


def _first_of_each_pair(train: Interactions) -> InnerArray:
    """The first row of each pair of user and item: Cornac ignores the others."""
    pairs = train.users.astype(np.int64) * train.n_items + train.items
    return np.sort(np.unique(pairs, return_index=True)[1]).astype(np.int64)
