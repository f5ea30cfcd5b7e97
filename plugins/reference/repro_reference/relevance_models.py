"""Relevance-based language models: neighbours are the feedback documents, the user's items the query."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np
from numba import njit

from repro.data.interactions import CodeArray, Interactions
from repro.plugin import Algorithm, Parameter, Queries, Scores
from repro_reference.checks import above, at_least, at_most
from repro_reference.neighbourhoods import item_probabilities, nearest_users, positive_ratings


@dataclass(eq=False)
class RelevanceModel:
    """p(i | R(u)) of Lavrenko and Croft's relevance models, for items (Parapar et al. 2013), with uniform priors::

        rm1  sum over v in V(u) of p(i | v) prod over j in I(u) of p(j | v)
        rm2  prod over j in I(u) of sum over v in V(u) of p(i | v) p(j | v)

    V(u) are the ``k`` users nearest to u by the cosine, I(u) the items of u. p(i | v) is the share of item i in the
    ratings of user v, mixed with its share p(i | C) in all ratings (Jelinek-Mercer smoothing)::

        p(i | v) = (1 - smoothing) r(v, i) / sum of r(v, .) + smoothing p(i | C)

    The score of rm1 is this sum divided by the same sum without p(i | v), that of rm2 the logarithm of the product;
    neither changes the order of a user's items. Unscored: items without training rows, users without neighbours.
    """

    model: str
    _: KW_ONLY
    k: int = 50
    smoothing: float = 0.5

    def __post_init__(self) -> None:
        at_least(self, k=1)
        above(self, smoothing=0)
        at_most(self, smoothing=1)

    def fit(self, train: Interactions, *, seed: int) -> None:
        ratings = positive_ratings(self.model, train)
        self.members_ = nearest_users(ratings, int(self.k))
        self.shares_, self.collection_ = item_probabilities(ratings)
        self.has_neighbours_ = np.diff(self.members_.indptr) > 0
        self.known_items_ = self.collection_ > 0

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = np.asarray(queries.users, dtype=np.int64)
        kernel = _rm1 if self.model == "rm1" else _rm2
        members = self.members_.indptr, self.members_.indices
        shares = self.shares_.indptr, self.shares_.indices, self.shares_.data
        wanted = np.asarray(items, dtype=np.int64)
        values = kernel(users, *members, *shares, self.collection_, wanted, float(self.smoothing))
        return Scores.where(self.has_neighbours_[queries.users][:, None] & self.known_items_[items], values)


@njit(cache=True)
def _rm1(users, starts, members, indptr, codes, shares, collection, items, smoothing):  # type: ignore[no-untyped-def]
    """The factor of p(j | C) is the same for all neighbours of a user and leaves the weights; these are relative to the
    highest, so that products of many small probabilities stay above zero."""
    values = np.zeros((len(users), len(items)))
    own = np.zeros(len(collection), dtype=np.bool_)
    row = np.empty(len(collection))
    for n in range(len(users)):
        user = users[n]
        first, last = starts[user], starts[user + 1]
        if first == last:
            continue
        own[:] = False
        for p in range(indptr[user], indptr[user + 1]):
            own[codes[p]] = True
        logs = np.zeros(last - first)
        for m in range(first, last):
            neighbour = members[m]
            for p in range(indptr[neighbour], indptr[neighbour + 1]):
                if own[codes[p]]:
                    ratio = (1.0 - smoothing) * shares[p] / (smoothing * collection[codes[p]])
                    logs[m - first] += np.log1p(ratio)
        weights = np.exp(logs - logs.max())
        total = weights.sum()
        row[:] = 0.0
        for m in range(first, last):
            neighbour = members[m]
            for p in range(indptr[neighbour], indptr[neighbour + 1]):
                row[codes[p]] += weights[m - first] * shares[p]
        for place in range(len(items)):
            item = items[place]
            values[n, place] = (1.0 - smoothing) * row[item] / total + smoothing * collection[item]
    return values


@njit(cache=True)
def _rm2(users, starts, members, indptr, codes, shares, collection, items, smoothing):  # type: ignore[no-untyped-def]
    values = np.zeros((len(users), len(items)))
    place_of = np.full(len(collection), -1)
    inner = np.empty(len(items))
    for place in range(len(items)):
        place_of[items[place]] = place
    for n in range(len(users)):
        user = users[n]
        first, last = starts[user], starts[user + 1]
        if first == last:
            continue
        near = np.empty((last - first, len(items)))
        for m in range(first, last):
            for place in range(len(items)):
                near[m - first, place] = smoothing * collection[items[place]]
            for p in range(indptr[members[m]], indptr[members[m] + 1]):
                if place_of[codes[p]] >= 0:
                    near[m - first, place_of[codes[p]]] += (1.0 - smoothing) * shares[p]
        for q in range(indptr[user], indptr[user + 1]):
            item = codes[q]
            inner[:] = 0.0
            for m in range(first, last):
                probability = smoothing * collection[item]
                low, high = indptr[members[m]], indptr[members[m] + 1]
                p = low + np.searchsorted(codes[low:high], item)
                if p < high and codes[p] == item:
                    probability += (1.0 - smoothing) * shares[p]
                for place in range(len(items)):
                    inner[place] += near[m - first, place] * probability
            for place in range(len(items)):
                values[n, place] += np.log(inner[place]) if inner[place] > 0.0 else 0.0
    return values


def _declare(name: str, summary: str) -> Algorithm:
    return Algorithm(
        name,
        summary,
        partial(RelevanceModel, name),
        parameters=(
            Parameter("k", 50, "how many neighbours are the feedback documents"),
            Parameter("smoothing", 0.5, "weight of the item's share in all ratings, above 0 and up to 1"),
        ),
        cite="Parapar, Bellogín, Castells & Barreiro (2013), IP&M 49(4), doi:10.1016/j.ipm.2013.03.001",
    )


declarations = (
    _declare("rm1", "relevance model 1: neighbours weighted by the probability of the user's items"),
    _declare("rm2", "relevance model 2: the user's items are drawn independently given the item"),
)
