"""The lists of now compared with those of earlier times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics._lists import shown
from repro.evaluation.metrics.background import EarlierLists
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Value


def no_order_of_two_times(k: int | None, variants: Mapping[str, Value]) -> str:
    """Why a metric of lists of two times has no best and no worst order of tied items."""
    return "earlier lists can have tied items too, and the value depends on the order of both"


def new_items(ranked: Ranked, k: int | None, earlier: Sequence[EarlierLists]) -> tuple[FloatArray, FloatArray]:
    """How many items of each list down to ``k`` are in no earlier list of the user down to ``k``.

    And 1 where the user has an earlier list, 0 where there is nothing to compare with.
    """
    items = shown(ranked, k)
    new, compared = np.zeros(len(ranked)), np.zeros(len(ranked))
    for n, user in enumerate(ranked.users.tolist()):
        lists = [lists[user][:k] for lists in earlier if len(lists.get(user, ()))]
        if lists:
            row = items[n]
            new[n] = np.count_nonzero(~np.isin(row[row >= 0], np.concatenate(lists)))
            compared[n] = 1.0
    return new, compared
