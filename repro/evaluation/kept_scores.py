"""Scores that a run keeps, of all test users for all items, so that other evaluations need no second fit.

Evaluation decisions say which scores are ranked and how, and change none of them. (With tuned parameters, they say
which fit it is.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from repro.data import Interactions
from repro.data.interactions import CodeArray
from repro.data.io.parquet import read_parquet
from repro.errors import JournalError
from repro.plugin import CheckedRecommender, Queries, Scores


def score_tables(scores: Scores, users: CodeArray, whole: Interactions) -> dict[str, pa.Table]:
    """A row for each test user with the scores of all items, and the items in their order."""
    columns = {"user": pa.array(whole.user_ids[users]), "scores": _rows(scores.values)}
    if scores.state is not None:
        columns["states"] = _rows(scores.state)
    return {"scores": pa.table(columns), "scored_items": pa.table({"item": pa.array(whole.item_ids)})}


def read_scores(scores: Path, scored_items: Path, users: CodeArray, whole: Interactions) -> Scores:
    """Read what :func:`score_tables` wrote, for the same data set and test users."""
    table = read_parquet(scores)
    items = read_parquet(scored_items)["item"].to_numpy()
    if not np.array_equal(items, whole.item_ids) or not np.array_equal(table["user"].to_numpy(), whole.user_ids[users]):
        raise JournalError(f"{scores} has the scores of other users or items than this data set and split have")
    states = _block(table, "states", len(items)) if "states" in table.column_names else None
    return Scores(_block(table, "scores", len(items)), states)


def _rows(block: npt.NDArray[Any]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(block).reshape(-1)), block.shape[1])


def _block(table: pa.Table, name: str, width: int) -> npt.NDArray[Any]:
    flat: npt.NDArray[Any] = table[name].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(table.num_rows, width)


@dataclass(eq=False)
class ReplayedScores:
    """A recommender that gives stored scores: a row for each of ``users`` (ascending) and a column for each item.

    It predicts the rating of a pair by its score or, if there are ``predictions``, by these, in the order of requests.
    """

    scores: Scores | None
    users: CodeArray | None = None
    predictions: Scores | None = None
    _predicted: int = field(default=0, init=False)

    def checked(self, label: str) -> CheckedRecommender:
        """The recommender as evaluations take it."""
        return CheckedRecommender(self, label, predicts=self.predictions is not None or self.users is None)

    def fit(self, train: Interactions, *, seed: int) -> None:
        """There is nothing to learn."""

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        rows: npt.NDArray[Any] = users if self.users is None else np.searchsorted(self.users, users)
        assert self.scores is not None
        return self.scores[np.ix_(rows, items)]

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        if self.predictions is None:
            assert self.scores is not None
            return self.scores[queries.users, items]
        pairs = slice(self._predicted, self._predicted + len(queries))
        self._predicted = pairs.stop
        return self.predictions[pairs]
