"""Scores that an algorithm gave before, in place of the algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data import Interactions
from repro.data.interactions import CodeArray
from repro.plugin import CheckedRecommender, Queries, Scores


class ReplayedScores:
    """A recommender that gives stored scores: a row for each of ``users`` (ascending) and a column for each item.

    It predicts the rating of a pair by its score, or, where ``predictions`` are given, by these: they are in the order
    in which the pairs are asked for.
    """

    def __init__(
        self, scores: Scores | None, users: CodeArray | None = None, predictions: Scores | None = None
    ) -> None:
        self._scores = scores
        self._users = users
        self._predictions = predictions
        self._predicted = 0

    def checked(self, label: str) -> CheckedRecommender:
        """The recommender as evaluations take it."""
        return CheckedRecommender(self, label, predicts=self._predictions is not None or self._users is None)

    def fit(self, train: Interactions, *, seed: int) -> None:
        """There is nothing to learn."""

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        rows: npt.NDArray[Any] = users if self._users is None else np.searchsorted(self._users, users)
        return self._at(np.ix_(rows, items))

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        if self._predictions is None:
            return self._at((queries.users, items))
        pairs = slice(self._predicted, self._predicted + len(queries))
        self._predicted = pairs.stop
        state = self._predictions.state
        return Scores(self._predictions.values[pairs], None if state is None else state[pairs])

    def _at(self, cells: tuple[npt.NDArray[Any], ...]) -> Scores:
        assert self._scores is not None
        state = self._scores.state
        return Scores(self._scores.values[cells], None if state is None else state[cells])
