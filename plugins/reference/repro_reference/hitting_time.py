"""HT: how many steps a random walk from an item takes, on average, until it reaches the user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Parameter
from repro_reference.checks import at_least
from repro_reference.known_pairs import KnownPairs
from repro_reference.neighbourhoods import positive_ratings


@dataclass(eq=False, kw_only=True)
class HittingTime(KnownPairs):
    """score(u, i) = -H(u | i), the expected number of steps from item i to user u on the graph of users and items,
    whose edges weigh the ratings (Yin et al. 2012)::

        H(u | u) = 0        H(u | x) = 1 + sum over y of p(x, y) H(u | y)

    The recursion starts with zeros and is repeated ``iterations`` times: H is the mean of min(steps, iterations), and
    an item from which no walk of that length reaches the user has H = ``iterations``. Unscored: users or items
    without training rows.
    """

    iterations: int = 15

    def __post_init__(self) -> None:
        at_least(self, iterations=1)

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.of_users_ = _transitions(positive_ratings("hitting-time", train))
        self.of_items_ = _transitions(csr_array(train.matrix().T))
        self.find_known(train)

    def products(self, users: CodeArray, items: CodeArray) -> FloatArray:
        known = self.known_users_[users]
        times = np.zeros((len(users), len(items)))
        left = self.of_users_.indptr, self.of_users_.indices, self.of_users_.data
        right = self.of_items_.indptr, self.of_items_.indices, self.of_items_.data
        wanted = np.asarray(users[known], dtype=np.int64), np.asarray(items, dtype=np.int64)
        times[known] = _times(*left, *right, *wanted, int(self.iterations))
        return -times


def _transitions(weights: csr_array) -> csr_array:
    """Each weight over the sum of its row."""
    sums = np.asarray(weights.sum(axis=1)).ravel()
    weights = csr_array(weights)
    return csr_array(
        (weights.data / np.repeat(sums, np.diff(weights.indptr)), weights.indices, weights.indptr), weights.shape
    )


@njit(cache=True)
def _times(indptr, columns, left, starts, rows, right, users, items, iterations):  # type: ignore[no-untyped-def]
    values = np.empty((len(users), len(items)))
    of_users = np.empty(len(indptr) - 1)
    of_items = np.empty(len(starts) - 1)
    next_users = np.empty_like(of_users)
    for n in range(len(users)):
        of_users[:] = 0.0
        of_items[:] = 0.0
        for _ in range(iterations):
            for user in range(len(of_users)):
                total = 1.0
                for p in range(indptr[user], indptr[user + 1]):
                    total += left[p] * of_items[columns[p]]
                next_users[user] = total
            next_users[users[n]] = 0.0
            for item in range(len(of_items)):
                total = 1.0
                for p in range(starts[item], starts[item + 1]):
                    total += right[p] * of_users[rows[p]]
                of_items[item] = total
            of_users[:] = next_users
        for place in range(len(items)):
            values[n, place] = of_items[items[place]]
    return values


declaration = Algorithm(
    "hitting-time",
    "few steps of a random walk from the item to the user",
    HittingTime,
    parameters=(Parameter("iterations", 15, "steps after which a walk is cut off"),),
    cite="Yin, Cui, Li, Yao & Chen (2012), PVLDB 5(9), doi:10.14778/2311906.2311916",
)
