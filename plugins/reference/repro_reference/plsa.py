"""pLSA: users are mixtures of tastes, tastes are distributions over items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Parameter
from repro.plugin.api.scores import Mask
from repro.rng import KeyArray, child_keys, stream, uniform
from repro_reference.checks import above, at_least, at_most
from repro_reference.known_pairs import KnownPairs
from repro_reference.products import sums


@dataclass(eq=False, kw_only=True)
class PLSA(KnownPairs):
    """score(u, i) = P(i | u) = sum over z of P(z | u) P(i | z), fitted by EM (Hofmann 2004)::

        E   Q(z; u, i) is proportional to (P(z | u) P(i | z))^beta
        M   P(z | u) is proportional to the sum over i of Q(z; u, i), P(i | z) to the sum over u

    Each training row is one observation, whatever its rating. beta is the ``inverse_temperature``: 1 is plain EM, a
    lower value is tempered EM, which fits less closely. Initial values are drawn from the seed and the ids of users
    and items.
    ``log_likelihood_`` holds the sum of log P(i | u) over the training rows before each iteration.
    Unscored: users or items without training rows.
    """

    factors: int = 50
    iterations: int = 50
    inverse_temperature: float = 1.0

    def __post_init__(self) -> None:
        at_least(self, factors=1, iterations=0)
        above(self, inverse_temperature=0)
        at_most(self, inverse_temperature=1)

    def fit(self, train: Interactions, *, seed: int) -> None:
        rows = train.matrix()
        self.find_known(train)
        mixtures = _shares(self._start(seed, "user", train.user_keys, self.known_users_), axis=1)
        tastes = _shares(self._start(seed, "item", train.item_keys, self.known_items_), axis=0)
        self.log_likelihood_: list[float] = []
        for _ in range(int(self.iterations)):
            mixtures, tastes, likelihood = _expected_counts(
                rows.indptr, rows.indices, mixtures, tastes, float(self.inverse_temperature)
            )
            mixtures, tastes = _shares(mixtures, axis=1), _shares(tastes, axis=0)
            self.log_likelihood_.append(likelihood)
        self.mixtures_ = csr_array(mixtures)  # P(z | u), users by factors
        self.tastes_ = np.ascontiguousarray(tastes.T)  # P(i | z), factors by items

    def products(self, users: CodeArray, items: CodeArray) -> FloatArray:
        return sums(self.mixtures_, users, self.tastes_, items)

    def _start(self, seed: int, side: str, keys: KeyArray, known: Mask) -> FloatArray:
        """Initial values, ids by factors: uniform in [1, 2), so that no factor begins empty."""
        columns = [
            1.0 + uniform(child_keys(stream(seed, "reference", "plsa", side, factor), keys))
            for factor in range(int(self.factors))
        ]
        return np.stack(columns, axis=1) * known[:, None]


def _shares(counts: FloatArray, axis: int) -> FloatArray:
    """Each row (axis 1) or column (axis 0) divided by its sum; zeros stay zeros."""
    totals = counts.sum(axis=axis, keepdims=True)
    return np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)


@njit(cache=True)
def _expected_counts(indptr, items, mixtures, tastes, beta):  # type: ignore[no-untyped-def]
    """One pass over the rows: how often each user and each item used each taste, and the log-likelihood."""
    factors = mixtures.shape[1]
    by_user = np.zeros_like(mixtures)
    by_item = np.zeros_like(tastes)
    joint = np.empty(factors)
    likelihood = 0.0
    for user in range(len(indptr) - 1):
        for p in range(indptr[user], indptr[user + 1]):
            item = items[p]
            probability = 0.0
            for z in range(factors):
                joint[z] = mixtures[user, z] * tastes[item, z]
                probability += joint[z]
            likelihood += np.log(probability)
            total = probability
            if beta != 1.0:
                total = 0.0
                for z in range(factors):
                    joint[z] = joint[z] ** beta
                    total += joint[z]
            for z in range(factors):
                share = joint[z] / total
                by_user[user, z] += share
                by_item[item, z] += share
    return by_user, by_item, likelihood


declaration = Algorithm(
    "plsa",
    "probabilistic latent semantic analysis of who chose what",
    PLSA,
    parameters=(
        Parameter("factors", 50, "how many latent tastes"),
        Parameter("iterations", 50, "how many steps of expectation maximisation"),
        Parameter("inverse_temperature", 1.0, "beta of tempered EM, above 0 and up to 1 (plain EM)"),
    ),
    cite="Hofmann (2004), ACM TOIS 22(1), doi:10.1145/963770.963774",
)
