"""Products of user and item factors: the estimates of SVD, SVDpp and NMF."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repro.data.interactions import CodeArray, FloatArray
from repro.plugin import Scores
from repro_surprise.biases import Biases
from repro_surprise.fitted import Fitted, Mask, scores_or_mean


@dataclass(frozen=True, eq=False)
class BiasedFactors:
    """b(u, i) + p(u) q(i). The factors of an unknown user or item are 0, which leaves the biases.

    For Surprise no estimate is impossible: all are scored.
    """

    biases: Biases
    users: FloatArray
    items: FloatArray

    def block(self, users: CodeArray, items: CodeArray) -> Scores:
        return Scores(self.biases.at(users[:, None], items[None, :]) + self.users[users] @ self.items[items].T)

    def pairs(self, users: CodeArray, items: CodeArray) -> Scores:
        return Scores(self.biases.at(users, items) + _products(self.users[users], self.items[items]))


@dataclass(frozen=True, eq=False)
class Factors:
    """p(u) q(i); impossible, and so the mean of all ratings, where the user or the item is unknown."""

    mean: float
    users: FloatArray
    items: FloatArray
    known_users: Mask
    known_items: Mask

    def block(self, users: CodeArray, items: CodeArray) -> Scores:
        known = self.known_users[users][:, None] & self.known_items[items][None, :]
        return scores_or_mean(known, self.users[users] @ self.items[items].T, self.mean)

    def pairs(self, users: CodeArray, items: CodeArray) -> Scores:
        known = self.known_users[users] & self.known_items[items]
        return scores_or_mean(known, _products(self.users[users], self.items[items]), self.mean)


def of_factors(fitted: Fitted) -> BiasedFactors | Factors:
    """The estimates of SVD and NMF, which are ``biased`` or not."""
    algorithm = fitted.algorithm
    users, items = fitted.by_user(algorithm.pu), fitted.by_item(algorithm.qi)
    if algorithm.biased:
        return BiasedFactors(Biases.of(fitted), users, items)
    return Factors(fitted.mean, users, items, fitted.inner_users >= 0, fitted.inner_items >= 0)


def of_implicit_factors(fitted: Fitted) -> BiasedFactors:
    """The estimates of SVDpp, where the factors of a user include those of the items that the user rated:

    p(u) + sum over the rated j of y(j) / sqrt(number of rated j).
    """
    from scipy.sparse import csr_array

    algorithm, train = fitted.algorithm, fitted.train
    rated = csr_array((np.ones(len(train)), (train.users, train.items)), shape=(train.n_users, train.n_items))
    implicit = rated @ fitted.by_item(algorithm.yj) / np.sqrt(np.maximum(train.user_counts(), 1))[:, None]
    return BiasedFactors(Biases.of(fitted), fitted.by_user(algorithm.pu) + implicit, fitted.by_item(algorithm.qi))


def _products(users: FloatArray, items: FloatArray) -> FloatArray:
    products: FloatArray = np.einsum("nf,nf->n", users, items)
    return products
