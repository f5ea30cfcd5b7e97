"""Bias: mean rating plus deviations of item and user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Parameter, Queries, Scores
from repro_reference.checks import at_least


@dataclass(frozen=True)
class Baseline:
    """b(u, i) = overall + items[i] + users[u]."""

    overall: float
    users: FloatArray
    items: FloatArray

    def block(self, users: CodeArray, items: CodeArray) -> FloatArray:
        return (self.overall + self.items[items])[None, :] + self.users[users][:, None]

    def pairs(self, users: CodeArray, items: CodeArray) -> FloatArray:
        return (self.overall + self.items[items]) + self.users[users]


def damped_baseline(train: Interactions, user_damping: float, item_damping: float) -> Baseline:
    """The baseline of :class:`Bias`; a user or item without training rows has a bias of 0."""
    matrix = train.matrix()
    overall = float(matrix.data.sum()) / max(len(train), 1)
    items = damped_means(matrix.indices, matrix.data - overall, train.n_items, item_damping)
    residuals = matrix.data - overall - items[matrix.indices]
    return Baseline(overall, damped_means(users_of_entries(matrix), residuals, train.n_users, user_damping), items)


def users_of_entries(matrix: csr_array) -> CodeArray:
    """The user of each entry of a matrix by users, in the order of its data."""
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))


def damped_means(codes: CodeArray, values: FloatArray, size: int, damping: float) -> FloatArray:
    """Sum of the values of each code over (their number + damping); 0 where there are none."""
    sums = np.bincount(codes, weights=values, minlength=size)
    counts = np.bincount(codes, minlength=size)
    return np.divide(sums, counts + damping, out=np.zeros(size), where=counts > 0)


class Bias:
    """Overall mean, item bias and user bias, one after the other (Koren 2010)::

        b(u, i) = m + b(i) + b(u)
        b(i) = sum over u in U(i) of (r(u, i) - m)        / (|U(i)| + item_damping)
        b(u) = sum over i in I(u) of (r(u, i) - m - b(i)) / (|I(u)| + user_damping)

    An item without training rows is unscored. A user without training rows has b(u) = 0, the damped mean of no
    ratings, and is scored.
    """

    def __init__(self, *, user_damping: float = 0.0, item_damping: float = 0.0) -> None:
        at_least("user_damping", user_damping, 0)
        at_least("item_damping", item_damping, 0)
        self.user_damping = user_damping
        self.item_damping = item_damping

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.baseline_ = damped_baseline(train, self.user_damping, self.item_damping)
        self.known_items_ = train.item_counts() > 0

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return Scores.where(self.known_items_[items][None, :], self.baseline_.block(queries.users, items))

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        return Scores.where(self.known_items_[items], self.baseline_.pairs(queries.users, items))


declaration = Algorithm(
    "bias",
    "overall mean plus damped item and user bias",
    Bias,
    parameters=(
        Parameter("user_damping", 0.0, "number of imagined ratings without bias added to those of each user"),
        Parameter("item_damping", 0.0, "number of imagined ratings without bias added to those of each item"),
    ),
    predicts=True,
    cite="Koren (2010), ACM TKDD 4(1), doi:10.1145/1644873.1644874",
    defines=True,
)
