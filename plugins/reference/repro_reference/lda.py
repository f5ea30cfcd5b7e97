"""LDA: users are mixtures of tastes, tastes are distributions over items, both with Dirichlet priors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.special import digamma

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Parameter
from repro.rng import child_keys, stream, uniform
from repro_reference.checks import at_least
from repro_reference.known_pairs import KnownPairs
from repro_reference.products import sums

INNER, CHANGE = 100, 1e-3  # a user's mixture is updated until it changes by less, or that often


@dataclass(eq=False, kw_only=True)
class LDA(KnownPairs):
    """score(u, i) = sum over z of E[p(z | u)] E[p(i | z)], fitted by variational Bayes (Blei, Ng & Jordan 2003)::

        phi(u, i, z) is proportional to exp(E[log p(z | u)] + E[log p(i | z)])
        gamma(u, z) = alpha + sum over i in I(u) of phi        lambda(z, i) = eta + sum over u in U(i) of phi

    Each training row is one observation, whatever its rating. ``alpha`` and ``eta`` are the parameters of the symmetric
    Dirichlet priors of users and tastes; 0 is 1 / factors. lambda starts with values drawn from the seed and the ids of
    the items. Unscored: users or items without training rows.
    """

    factors: int = 50
    iterations: int = 20
    alpha: float = 0.0
    eta: float = 0.0

    def __post_init__(self) -> None:
        at_least(self, factors=1, iterations=1, alpha=0, eta=0)

    def fit(self, train: Interactions, *, seed: int) -> None:
        rows = train.matrix()
        factors = int(self.factors)
        alpha, eta = (float(prior) or 1.0 / factors for prior in (self.alpha, self.eta))
        draws = [uniform(child_keys(stream(seed, "reference", "lda", z), train.item_keys)) for z in range(factors)]
        tastes = 0.5 + np.stack(draws, axis=1)  # lambda, items by factors
        for _ in range(int(self.iterations)):
            mixtures, counts = _pass(rows.indptr, rows.indices, _weights(tastes), alpha)
            tastes = eta + counts
        mixtures, _ = _pass(rows.indptr, rows.indices, _weights(tastes), alpha)
        self.tastes_ = np.ascontiguousarray((tastes / tastes.sum(axis=0)).T)
        self.mixtures_ = csr_array(mixtures / mixtures.sum(axis=1, keepdims=True))
        self.find_known(train)

    def products(self, users: CodeArray, items: CodeArray) -> FloatArray:
        return sums(self.mixtures_, users, self.tastes_, items)


def _weights(tastes: FloatArray) -> FloatArray:
    """exp(E[log p(i | z)]), items by factors."""
    weights: FloatArray = np.exp(digamma(tastes) - digamma(tastes.sum(axis=0)))
    return weights


def _pass(indptr: CodeArray, items: CodeArray, weights: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """The gamma of all users, and how often each item used each taste."""
    mixtures = np.ones((len(indptr) - 1, weights.shape[1]))
    active = np.diff(indptr) > 0
    for _ in range(INNER):
        shares = np.exp(digamma(mixtures) - digamma(mixtures.sum(axis=1))[:, None])
        before = mixtures.copy()
        _update(indptr, items, weights, shares, active, alpha, mixtures)
        active = active & (np.abs(mixtures - before).mean(axis=1) >= CHANGE)
        if not active.any():
            break
    shares = np.exp(digamma(mixtures) - digamma(mixtures.sum(axis=1))[:, None])
    return mixtures, _counts(indptr, items, weights, shares)


@njit(cache=True)
def _total(shares, row):  # type: ignore[no-untyped-def]
    """The sum over tastes of the shares of a user times the weights of an item; never 0."""
    total = 1e-300
    for z in range(len(row)):
        total += shares[z] * row[z]
    return total


@njit(cache=True)
def _update(indptr, items, weights, shares, active, alpha, mixtures):  # type: ignore[no-untyped-def]
    for user in range(len(indptr) - 1):
        if not active[user]:
            continue
        mixtures[user, :] = 0.0
        for p in range(indptr[user], indptr[user + 1]):
            row = weights[items[p]]
            total = _total(shares[user], row)
            for z in range(len(row)):
                mixtures[user, z] += row[z] / total
        for z in range(mixtures.shape[1]):
            mixtures[user, z] = alpha + shares[user, z] * mixtures[user, z]


@njit(cache=True)
def _counts(indptr, items, weights, shares):  # type: ignore[no-untyped-def]
    counts = np.zeros_like(weights)
    for user in range(len(indptr) - 1):
        for p in range(indptr[user], indptr[user + 1]):
            row = weights[items[p]]
            total = _total(shares[user], row)
            for z in range(len(row)):
                counts[items[p], z] += shares[user, z] * row[z] / total
    return counts


declaration = Algorithm(
    "lda",
    "latent Dirichlet allocation of who chose what",
    LDA,
    parameters=(
        Parameter("factors", 50, "how many latent tastes"),
        Parameter("iterations", 20, "how many passes of variational Bayes"),
        Parameter("alpha", 0.0, "parameter of the Dirichlet prior of users; 0: 1 / factors"),
        Parameter("eta", 0.0, "parameter of the Dirichlet prior of tastes; 0: 1 / factors"),
    ),
    cite="Blei, Ng & Jordan (2003), JMLR 3",
)
