"""Averages of clusters: the estimate of CoClustering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray
from repro_surprise.fitted import Elementwise, Fitted, Mask


@dataclass(frozen=True, eq=False)
class CoClusters(Elementwise):
    """A(c(u), c(i)) + (mean of u - A(c(u))) + (mean of i - A(c(i))), A being averages of clusters (George & Merugu).

    For an unknown user or item Surprise's estimate is the mean of all ratings, which is not impossible: all pairs are
    scored. Surprise truncates ratings to whole numbers here.
    """

    mean: float
    averages: FloatArray
    user_clusters: npt.NDArray[np.intp]
    item_clusters: npt.NDArray[np.intp]
    user_means: FloatArray
    item_means: FloatArray
    user_averages: FloatArray
    item_averages: FloatArray
    known_users: Mask
    known_items: Mask

    @classmethod
    def of(cls, fitted: Fitted) -> CoClusters:
        algorithm = fitted.algorithm
        return cls(
            fitted.mean,
            algorithm.avg_cocltr,
            fitted.by_user(algorithm.cltr_u),
            fitted.by_item(algorithm.cltr_i),
            fitted.by_user(algorithm.user_mean),
            fitted.by_item(algorithm.item_mean),
            algorithm.avg_cltr_u,
            algorithm.avg_cltr_i,
            fitted.inner_users >= 0,
            fitted.inner_items >= 0,
        )

    def at(self, users: CodeArray, items: CodeArray) -> FloatArray:
        of_user, of_item = self.user_clusters[users], self.item_clusters[items]
        estimates = self.averages[of_user, of_item] + self.user_means[users] - self.user_averages[of_user]
        estimates += self.item_means[items]
        estimates -= self.item_averages[of_item]
        estimates[~(self.known_users[users] & self.known_items[items])] = self.mean
        return estimates
