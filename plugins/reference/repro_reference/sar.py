"""SAR: affinities of a user to items, spread by the similarity of items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import FloatArray, Interactions
from repro.errors import PluginError
from repro.plugin import Algorithm, Choice, Parameter
from repro_reference.checks import at_least, one_of
from repro_reference.item_products import compact
from repro_reference.item_weights import ItemWeights

_GRAHAM = "Graham, Min & Wu (2019), RecSys, doi:10.1145/3298689.3346967"
# From c(i, j), the users of both items, c(i), c(j), and the number of items with users: the similarity.
SIMILARITIES: dict[str, Callable[[FloatArray, FloatArray, FloatArray, float], FloatArray]] = {
    "cooccurrence": lambda both, first, second, items: both,
    "cosine": lambda both, first, second, items: both / np.sqrt(first * second),
    "inclusion": lambda both, first, second, items: both / np.minimum(first, second),
    "jaccard": lambda both, first, second, items: both / (first + second - both),
    "lift": lambda both, first, second, items: both / (first * second),
    "mutual-information": lambda both, first, second, items: np.log2(items * both / (first * second)),
    "lexicographers": lambda both, first, second, items: both * np.log2(items * both / (first * second)),
}
CHOICES = (
    Choice("cooccurrence", "users of both items", "c(i, j)", _GRAHAM),
    Choice("cosine", "the cosine of who has them", "c(i, j) / sqrt(c(i) c(j))", "Salton & McGill (1983)"),
    Choice("inclusion", "users of both over those of the rarer item", "c(i, j) / min(c(i), c(j))", "Simpson (1943)"),
    Choice("jaccard", "users of both over those of either", "c(i, j) / (c(i) + c(j) - c(i, j))", _GRAHAM),
    Choice("lift", "users of both over what chance would give, but for a factor", "c(i, j) / (c(i) c(j))", _GRAHAM),
    Choice(
        "mutual-information",
        "the logarithm of the lift times the number N of items with users; negative where it is below 1",
        "log2(N c(i, j) / (c(i) c(j)))",
        "Church & Hanks (1990), Computational Linguistics 16(1)",
    ),
    Choice(
        "lexicographers",
        "mutual information times the users of both, so that rare items do not come first",
        "c(i, j) log2(N c(i, j) / (c(i) c(j)))",
        "Kilgarriff et al. (2004), EURALEX",
    ),
)
VALUES = (
    Choice("ratings", "the rating", "a(u, j) = r(u, j)", _GRAHAM),
    Choice("binary", "1 for each training row", "a(u, j) = 1"),
)
DAY = 86_400.0


@dataclass(eq=False, kw_only=True)
class SAR(ItemWeights):
    """score(u, i) = sum over j in I(u) of a(u, j) s(j, i), the diagonal included (Microsoft Recommenders, SAR)::

        cooccurrence  c(i, j)                       inclusion           c(i, j) / min(c(i), c(j))
        cosine        c(i, j) / sqrt(c(i) c(j))     jaccard             c(i, j) / (c(i) + c(j) - c(i, j))
        lift          c(i, j) / (c(i) c(j))         mutual-information  log2(N c(i, j) / (c(i) c(j)))
                                                    lexicographers      c(i, j) log2(N c(i, j) / (c(i) c(j)))

    c(i) is the number of users of item i, c(i, j) that of users of both, N that of items with users; s is 0 where
    c(i, j) is 0 or below ``min_cooccurrence``. a(u, j) is the rating, or 1 (``values = "binary"``), times
    2^-(days before the last training row / ``half_life``) where a half-life is given, which needs timestamps.
    Unscored: users or items without training rows.
    """

    similarity: str = "jaccard"
    half_life: float = 0.0
    min_cooccurrence: int = 1
    values: str = "ratings"

    def __post_init__(self) -> None:
        at_least(self, half_life=0, min_cooccurrence=1)
        one_of(self, similarity=CHOICES, values=VALUES)

    def fit(self, train: Interactions, *, seed: int) -> None:
        ones = self.begin(train, "binary")
        values = np.ones(len(train)) if self.values == "binary" else np.asarray(train.ratings, dtype=np.float64)
        if self.half_life > 0:
            if train.timestamps is None:
                raise PluginError(f"half_life = {self.half_life:g} needs timestamps, and the training rows have none")
            age = (train.timestamps.max(initial=0) - train.timestamps) / DAY
            values = values * 0.5 ** (age / self.half_life)
        self.rows_ = csr_array((values, (train.users, train.items)), ones.shape)
        self.rows_.sort_indices()
        counts = np.asarray(ones.sum(axis=0)).ravel()
        both = csr_array(ones.T @ ones)
        both.data[both.data < self.min_cooccurrence] = 0.0
        both.eliminate_zeros()
        both.sort_indices()
        first = np.repeat(counts, np.diff(both.indptr))
        items = float(np.count_nonzero(counts))
        similar = SIMILARITIES[self.similarity](both.data, first, counts[both.indices], items)
        self.weights_ = compact(csr_array((similar, both.indices, both.indptr), both.shape))


declaration = Algorithm(
    "sar",
    "ratings, with less weight for older ones, spread by co-occurrences of items",
    SAR,
    parameters=(
        Parameter("similarity", "jaccard", "how co-occurrences become similarities", choices=CHOICES),
        Parameter("half_life", 0.0, "days after which a rating has half of its weight; 0: no decay", neutral=0.0),
        Parameter("min_cooccurrence", 1, "fewest common users for a similarity", neutral=1, probe=2),
        Parameter("values", "ratings", "the affinity of a user to an item, without decay", choices=VALUES),
    ),
    cite=_GRAHAM,
    defines=True,
)
