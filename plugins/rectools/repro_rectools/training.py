"""Training rows as RecTools takes them, and the way back from its inner ids to codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Scores
from repro.plugin.api.adapting import Weigh, known_block

Score = Callable[[CodeArray, CodeArray], FloatArray]


@dataclass(frozen=True)
class Training:
    """RecTools' data set of the training rows, and its inner id of each code (-1 for those without rows).

    RecTools numbers users and items in the order of the rows, which is therefore canonical: what is drawn for an inner
    id must not depend on the order of the training rows. Timestamps are seconds.
    """

    dataset: Any
    users: CodeArray
    items: CodeArray

    @classmethod
    def of(cls, train: Interactions, weigh: Weigh) -> Training:
        """The data set of these rows with ``weigh(ratings)`` as weights."""
        import pandas as pd
        from rectools import Columns  # type: ignore[import-not-found, unused-ignore]
        from rectools.dataset import Dataset  # type: ignore[import-not-found, unused-ignore]

        rows = train.canonical()
        seconds = np.zeros(len(rows), dtype=np.int64) if rows.timestamps is None else rows.timestamps
        frame = pd.DataFrame(
            {
                Columns.User: rows.users,
                Columns.Item: rows.items,
                Columns.Weight: weigh(rows.ratings),
                Columns.Datetime: seconds.astype("datetime64[s]"),
            }
        )
        dataset = Dataset.construct(frame)
        return cls(
            dataset,
            _inner_ids(dataset.user_id_map.external_ids, train.n_users),
            _inner_ids(dataset.item_id_map.external_ids, train.n_items),
        )

    @property
    def n_items(self) -> int:
        """The number of items with training rows."""
        return int(self.dataset.item_id_map.size)

    def matrix(self) -> Any:
        """Users by items, by inner ids: RecTools' weights, which have single precision, as doubles."""
        return self.dataset.get_user_item_matrix(include_weights=True).astype(np.float64)

    def block(self, users: CodeArray, items: CodeArray, score: Score, *, complete: bool = False) -> Scores:
        """``score(users, items)`` by RecTools' inner ids, as :func:`known_block` has it."""
        return known_block(self.users[users], self.items[items], score, complete=complete)


class RecToolsRecommender:
    """A model of RecTools: the function that makes it from a seed, and the weights of training rows."""

    def __init__(self, model: Callable[[int], Any], weigh: Weigh) -> None:
        self.model = model
        self.weigh = weigh


def _inner_ids(codes: Any, size: int) -> CodeArray:
    inner = np.full(size, -1, dtype=np.int32)
    inner[np.asarray(codes, dtype=np.int64)] = np.arange(len(codes), dtype=np.int32)
    return inner
