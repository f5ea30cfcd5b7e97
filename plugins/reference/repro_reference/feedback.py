"""Pseudo-relevance feedback: the user's neighbours are the relevant documents, their items the terms to expand by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Parameter, Queries, Scores
from repro_reference.checks import at_least
from repro_reference.neighbourhoods import item_probabilities, nearest_users, positive_ratings

# By name: the weight of an item, from the sum of the neighbours' ratings over their number, p(i | V) and p(i | C).
WEIGHTS: dict[str, Callable[[FloatArray, FloatArray, FloatArray], FloatArray]] = {
    "rocchio": lambda mean, near, everywhere: mean,
    "rsv": lambda mean, near, everywhere: mean * near,
    "chi2": lambda mean, near, everywhere: (near - everywhere) ** 2 / everywhere,
    "kld": lambda mean, near, everywhere: near * np.log(near / everywhere),
}


@dataclass(eq=False)
class Feedback:
    """Weights of terms in Rocchio's feedback model, for items (Valcarce, Parapar & Barreiro 2016, ECIR)::

        rocchio  sum of r(v, i) over v in V(u) / |V(u)|
        rsv      rocchio x p(i | V(u))
        chi2     (p(i | V(u)) - p(i | C))^2 / p(i | C)
        kld      p(i | V(u)) log(p(i | V(u)) / p(i | C))

    V(u) are the ``k`` users nearest to u by the cosine. p(i | V(u)) is the share of item i in the sum of all ratings
    of these users, p(i | C) its share in the sum of all ratings. Unscored: an item that no neighbour rated.
    """

    weight: str
    _: KW_ONLY
    k: int = 100

    def __post_init__(self) -> None:
        at_least(self, k=1)

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.ratings_ = positive_ratings(self.weight, train)
        self.members_ = nearest_users(self.ratings_, int(self.k))
        self.collection_ = item_probabilities(self.ratings_)[1]
        self.sizes_ = np.diff(self.members_.indptr)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        sums = csr_array(self.members_[users] @ self.ratings_).toarray()
        totals = sums.sum(axis=1, keepdims=True)
        sums = sums[:, items]
        rated = sums > 0
        mean = np.divide(sums, self.sizes_[users][:, None], out=np.ones_like(sums), where=rated)
        near = np.divide(sums, totals, out=np.ones_like(sums), where=rated)
        everywhere = np.where(self.collection_[items] > 0, self.collection_[items], 1.0)
        return Scores.where(rated, WEIGHTS[self.weight](mean, near, everywhere))


def _declare(name: str, summary: str) -> Algorithm:
    return Algorithm(
        name,
        summary,
        partial(Feedback, name),
        parameters=(Parameter("k", 100, "how many neighbours are the relevant documents"),),
        cite="Valcarce, Parapar & Barreiro (2016), ECIR, doi:10.1007/978-3-319-30671-1_44",
    )


declarations = (
    _declare("rocchio", "mean rating of the nearest users, missing ones as zero"),
    _declare("rsv", "mean rating of the nearest users times the item's share in their ratings"),
    _declare("chi2", "chi-square of the item's share in the nearest users' ratings against its share in all"),
    _declare("kld", "divergence of the item's share in the nearest users' ratings from its share in all"),
)
