"""SAR: affinities of a user to items, spread by the similarity of items."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.errors import PluginError
from repro.plugin import Algorithm, Parameter, Queries, Scores
from repro_reference.checks import at_least, one_of
from repro_reference.item_products import weighted_rows

# From c(i, j), the users of both items, c(i) and c(j): the similarity.
SIMILARITIES: dict[str, Callable[[FloatArray, FloatArray, FloatArray], FloatArray]] = {
    "cooccurrence": lambda both, first, second: both,
    "cosine": lambda both, first, second: both / np.sqrt(first * second),
    "inclusion": lambda both, first, second: both / np.minimum(first, second),
    "jaccard": lambda both, first, second: both / (first + second - both),
    "lift": lambda both, first, second: both / (first * second),
}
DAY = 86_400.0


class SAR:
    """score(u, i) = sum over j in I(u) of a(u, j) s(j, i), the diagonal included (Microsoft Recommenders, SAR)::

        cooccurrence  c(i, j)                       inclusion  c(i, j) / min(c(i), c(j))
        cosine        c(i, j) / sqrt(c(i) c(j))     jaccard    c(i, j) / (c(i) + c(j) - c(i, j))
        lift          c(i, j) / (c(i) c(j))

    c(i) is the number of users of item i, c(i, j) that of users of both; s is 0 where c(i, j) is below
    ``min_cooccurrence``. a(u, j) is the rating, times 2^-(days before the last training row / ``half_life``) where a
    half-life is given, which needs timestamps. Unscored: users or items without training rows.
    """

    def __init__(self, *, similarity: str = "jaccard", half_life: float = 0.0, min_cooccurrence: int = 1) -> None:
        one_of("similarity", similarity, tuple(SIMILARITIES))
        at_least("half_life", half_life, 0)
        at_least("min_cooccurrence", min_cooccurrence, 1)
        self.similarity = similarity
        self.half_life = half_life
        self.min_cooccurrence = min_cooccurrence

    def fit(self, train: Interactions, *, seed: int) -> None:
        values = np.asarray(train.ratings, dtype=np.float64)
        if self.half_life > 0:
            if train.timestamps is None:
                raise PluginError(f"half_life = {self.half_life:g} needs timestamps, and the training rows have none")
            age = (train.timestamps.max(initial=0) - train.timestamps) / DAY
            values = values * 0.5 ** (age / self.half_life)
        shape = (train.n_users, train.n_items)
        self.affinities_ = csr_array((values, (train.users, train.items)), shape)
        self.affinities_.sort_indices()
        ones = csr_array((np.ones(self.affinities_.nnz), self.affinities_.indices, self.affinities_.indptr), shape)
        counts = np.asarray(ones.sum(axis=0)).ravel()
        both = csr_array(ones.T @ ones)
        both.data[both.data < self.min_cooccurrence] = 0.0
        both.eliminate_zeros()
        both.sort_indices()
        first = np.repeat(counts, np.diff(both.indptr))
        similar = SIMILARITIES[self.similarity](both.data, first, counts[both.indices])
        self.similarities_ = csr_array((similar, both.indices, both.indptr), both.shape)
        self.known_users_ = train.user_counts() > 0
        self.known_items_ = train.item_counts() > 0

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = weighted_rows(self.affinities_, users, self.similarities_, items)
        return Scores.where(self.known_users_[users][:, None] & self.known_items_[items], values)


declaration = Algorithm(
    "sar",
    "ratings, with less weight for older ones, spread by co-occurrences of items",
    SAR,
    parameters=(
        Parameter("similarity", "jaccard", "how co-occurrences become similarities", tuple(SIMILARITIES)),
        Parameter("half_life", 0.0, "days after which a rating has half of its weight; 0: no decay"),
        Parameter("min_cooccurrence", 1, "fewest common users for a similarity"),
    ),
    cite="Graham, Min & Wu (2019), RecSys, doi:10.1145/3298689.3346967",
)
