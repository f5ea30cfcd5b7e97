"""Mean differences between items: the estimate of SlopeOne."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from repro.data.interactions import CodeArray, FloatArray
from repro.plugin import Scores
from repro_surprise.fitted import Fitted, Mask, scores_or_mean


@dataclass(frozen=True, eq=False)
class Slopes:
    """The mean of the user plus the mean of dev(i, j) over the rated j that have raters in common with i.

    ``deviations`` and ``comparable`` hold dev(i, j) and whether there are common raters (1 or 0) at [j, i]; without
    common raters dev is 0. Impossible, and so the mean of all ratings, if the user or the item is unknown; without
    comparable items the estimate is the user's mean, which is not impossible for Surprise. Surprise truncates ratings
    to whole numbers in dev.
    """

    mean: float
    rated: Any
    deviations: FloatArray
    comparable: FloatArray
    user_means: FloatArray
    known_users: Mask
    known_items: Mask

    @classmethod
    def of(cls, fitted: Fitted) -> Slopes:
        from scipy.sparse import csr_array

        algorithm, train = fitted.algorithm, fitted.train
        comparable = algorithm.freq.T > 0
        deviations = np.where(comparable, algorithm.dev.T, 0.0)  # Surprise has 0 / 0 without common raters
        rated = csr_array(
            (np.ones(len(train)), (train.users, fitted.inner_items[train.items])),
            shape=(train.n_users, len(comparable)),
        )
        return cls(
            fitted.mean,
            rated,
            _by_column(deviations, fitted),
            _by_column(comparable.astype(np.float64), fitted),
            fitted.by_user(np.asarray(algorithm.user_mean)),
            fitted.inner_users >= 0,
            fitted.inner_items >= 0,
        )

    def block(self, users: CodeArray, items: CodeArray) -> Scores:
        known = self.known_users[users][:, None] & self.known_items[items][None, :]
        return scores_or_mean(known, self._estimates(users, items), self.mean)

    def pairs(self, users: CodeArray, items: CodeArray) -> Scores:
        values = np.empty(len(users))
        order = np.argsort(users, kind="stable")
        starts = np.flatnonzero(np.diff(users[order], prepend=-1))
        for pairs in np.split(order, starts)[1:]:  # one user at a time: a row of a block with that user's items
            values[pairs] = self._estimates(users[pairs[:1]], items[pairs])[0]
        return scores_or_mean(self.known_users[users] & self.known_items[items], values, self.mean)

    def _estimates(self, users: CodeArray, items: CodeArray) -> FloatArray:
        rated = self.rated[users]
        counts = rated @ self.comparable[:, items]
        sums = rated @ self.deviations[:, items]
        means: FloatArray = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
        return self.user_means[users][:, None] + means


def _by_column(values: FloatArray, fitted: Fitted) -> FloatArray:
    """Columns by code instead of inner id; zeros for unknown items."""
    placed = np.zeros((len(values), len(fitted.inner_items)))
    known = fitted.inner_items >= 0
    placed[:, known] = values[:, fitted.inner_items[known]]
    return placed
