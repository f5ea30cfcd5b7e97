"""Ratings of nearest neighbours: the estimates of KNNBasic, KNNWithMeans, KNNBaseline and KNNWithZScore."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from repro.data.interactions import CodeArray, FloatArray
from repro.plugin import FALLBACK, SCORED, Scores
from repro_surprise.biases import Biases
from repro_surprise.fitted import Fitted, InnerArray, scores_or_mean
from repro_surprise.neighbours import Neighbours, RatingLists, Sums


class NearestNeighbours(ABC):
    """The base class of the four: it finds the neighbours.

    Similarities that are NaN (Pearson's correlation of equal ratings that binary numbers cannot represent) have no
    order, and Surprise's choice among them depends on the implementation of ``heapq.nlargest``. Surprise itself
    predicts pairs with such a neighbour.
    """

    def __init__(self, fitted: Fitted) -> None:
        algorithm, train = fitted.algorithm, fitted.train
        self.mean = fitted.mean
        self.user_based = bool(algorithm.sim_options["user_based"])
        self.inner_users, self.inner_items = fitted.inner_users, fitted.inner_items
        self.algorithm = algorithm if np.isnan(algorithm.sim).any() else None
        x, y = self._sides(self.inner_users[train.users], self.inner_items[train.items])
        lists = RatingLists.of(x, y, self._values(fitted, x), int(y.max()) + 1)
        self.neighbours = Neighbours(algorithm.sim, lists, int(algorithm.k), int(algorithm.min_k))

    def block(self, users: CodeArray, items: CodeArray) -> Scores:
        x, y = self._sides(self.inner_users[users], self.inner_items[items])
        sums = self.neighbours.of_block(x, y)
        return self._scores(users[:, None], items[None, :], sums if self.user_based else sums.transposed)

    def pairs(self, users: CodeArray, items: CodeArray) -> Scores:
        x, y = self._sides(self.inner_users[users], self.inner_items[items])
        return self._scores(users, items, self.neighbours.of_pairs(x, y))

    @abstractmethod
    def _values(self, fitted: Fitted, x: InnerArray) -> FloatArray:
        """The values that the ratings of the training rows count as; ``x`` are those of the rows."""

    @abstractmethod
    def _estimates(self, users: CodeArray, items: CodeArray, sums: Sums) -> Scores:
        """Estimates from sums over neighbours."""

    def _sides(self, users: Any, items: Any) -> tuple[Any, Any]:
        """Users and items as x and y."""
        return (users, items) if self.user_based else (items, users)

    def _scores(self, users: CodeArray, items: CodeArray, sums: Sums) -> Scores:
        scores = self._estimates(users, items, sums)
        unordered = np.isnan(sums.similarities)
        return self._by_surprise(users, items, unordered, scores) if unordered.any() else scores

    def _by_surprise(self, users: CodeArray, items: CodeArray, where: Any, scores: Scores) -> Scores:
        assert self.algorithm is not None
        state = scores.states
        users, items = np.broadcast_arrays(users, items)
        for cell in zip(*np.nonzero(where), strict=True):
            prediction = self.algorithm.predict(int(users[cell]), int(items[cell]), clip=False)
            scores.values[cell] = prediction.est
            state[cell] = FALLBACK if prediction.details["was_impossible"] else SCORED
        return Scores(scores.values, state)

    def _known(self, users: CodeArray, items: CodeArray) -> Any:
        return (self.inner_users[users] >= 0) & (self.inner_items[items] >= 0)


class Plain(NearestNeighbours):
    """KNNBasic: the mean of the ratings of neighbours, weighted by similarity.

    Impossible, and so the mean of all ratings, if the user or the item is unknown or there are too few neighbours.
    """

    def _values(self, fitted: Fitted, x: InnerArray) -> FloatArray:
        return fitted.train.ratings

    def _estimates(self, users: CodeArray, items: CodeArray, sums: Sums) -> Scores:
        return scores_or_mean(sums.enough, sums.means, self.mean)


class Centred(NearestNeighbours):
    """KNNWithMeans and KNNWithZScore: ratings count by how much they differ from the mean of their x, in the latter in
    standard deviations of x.

    Impossible, and so the mean of all ratings, if the user or the item is unknown. With too few neighbours the
    estimate is the mean of x, which is not impossible for Surprise.
    """

    def __init__(self, fitted: Fitted) -> None:
        super().__init__(fitted)
        by_code = fitted.by_user if self.user_based else fitted.by_item
        means, scales = self._means_and_scales(fitted)
        self.means, self.scales = by_code(means), by_code(scales)

    def _means_and_scales(self, fitted: Fitted) -> tuple[FloatArray, FloatArray]:
        means: FloatArray = fitted.algorithm.means
        return means, getattr(fitted.algorithm, "sigmas", np.ones_like(means))

    def _values(self, fitted: Fitted, x: InnerArray) -> FloatArray:
        means, scales = self._means_and_scales(fitted)
        return (fitted.train.ratings - means[x]) / scales[x]

    def _estimates(self, users: CodeArray, items: CodeArray, sums: Sums) -> Scores:
        x, _ = self._sides(users, items)
        return scores_or_mean(self._known(users, items), self.means[x] + sums.means * self.scales[x], self.mean)


class Baselined(NearestNeighbours):
    """KNNBaseline: ratings count by how much they differ from the baseline, which is the estimate without neighbours.

    For Surprise no estimate is impossible, even if the user or the item is unknown: all are scored.
    """

    def __init__(self, fitted: Fitted) -> None:
        self.biases = Biases.of(fitted)
        super().__init__(fitted)

    def _values(self, fitted: Fitted, x: InnerArray) -> FloatArray:
        return fitted.train.ratings - self.biases.at(fitted.train.users, fitted.train.items)

    def _estimates(self, users: CodeArray, items: CodeArray, sums: Sums) -> Scores:
        return Scores(self.biases.at(users, items) + sums.means)
