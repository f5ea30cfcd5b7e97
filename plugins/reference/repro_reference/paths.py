"""P3alpha and RP3beta: random walks of three steps from a user, over items and users, to items."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Parameter, Queries, Scores
from repro_reference.checks import at_least, one_of
from repro_reference.item_products import item_paths, weighted_rows

VALUES = ("binary", "ratings")


class RP3Beta:
    """The transition probabilities of three steps, each to the power ``alpha``, over the popularity of the item::

        score(u, i) = sum over j in I(u) of x(u, j) w(j, i)
        w(j, i) = sum over users v of (P(v | j) P(i | v))^alpha / |U(i)|^beta, and 0 for j = i

    P(v | j) = 1 / |U(j)|; P(i | v) = x(v, i) / sum of x(v, .), where x is 1 for each training row (``binary``) or its
    rating. Of each w(j, .), the ``k`` largest remain (0: all); with ``normalise`` they are divided by their sum.
    beta = 0 is P3alpha (Cooper et al. 2014), and beta above 0 is RP3beta (Paudel et al. 2017). Unscored: users or
    items without training rows.
    """

    def __init__(
        self, *, alpha: float = 1.0, beta: float = 0.5, k: int = 0, normalise: bool = False, values: str = "binary"
    ) -> None:
        at_least("alpha", alpha, 0)
        at_least("beta", beta, 0)
        at_least("k", k, 0)
        one_of("values", values, VALUES)
        self.alpha = alpha
        self.beta = beta
        self.k = k
        self.normalise = normalise
        self.values = values

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.rows_ = train.matrix()
        if self.values == "binary":
            self.rows_ = csr_array((np.ones(len(train)), self.rows_.indices, self.rows_.indptr), self.rows_.shape)
        counts = train.item_counts().astype(np.float64)
        to_items = _shares(self.rows_, self.alpha)
        holders = csr_array(self.rows_.T)
        to_users = _shares(csr_array((np.ones(len(train)), holders.indices, holders.indptr), holders.shape), self.alpha)
        factors = np.where(counts > 0, np.maximum(counts, 1.0) ** -self.beta, 0.0)
        self.weights_ = item_paths(to_users, to_items, factors, int(self.k))
        if self.normalise:
            self.weights_ = _shares(self.weights_, 1.0)
        self.known_users_ = train.user_counts() > 0
        self.known_items_ = counts > 0

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = weighted_rows(self.rows_, users, self.weights_, items)
        return Scores.where(self.known_users_[users][:, None] & self.known_items_[items], values)


class P3Alpha(RP3Beta):
    """:class:`RP3Beta` with beta = 0."""

    def __init__(self, *, alpha: float = 1.0, k: int = 0, normalise: bool = False, values: str = "binary") -> None:
        super().__init__(alpha=alpha, beta=0.0, k=k, normalise=normalise, values=values)


def _shares(matrix: csr_array, power: float) -> csr_array:
    """Each entry over the sum of its row, to a power."""
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    of_entries: FloatArray = np.repeat(sums, np.diff(matrix.indptr))
    return csr_array(((matrix.data / of_entries) ** power, matrix.indices, matrix.indptr), matrix.shape)


_ALPHA = Parameter("alpha", 1.0, "power of the transition probabilities")
_SHARED = (
    Parameter("k", 0, "how many weights of each item remain, the largest; 0: all"),
    Parameter("normalise", False, "divide the weights of each item by their sum"),
    Parameter("values", "binary", "1 for each training row, or its rating", VALUES),
)

declarations = (
    Algorithm(
        "p3alpha",
        "random walk of three steps, probabilities to a power",
        P3Alpha,
        parameters=(_ALPHA, *_SHARED),
        cite="Cooper, Lee, Radzik & Siantos (2014), WWW Companion, doi:10.1145/2567948.2579244",
    ),
    Algorithm(
        "rp3beta",
        "random walk of three steps, divided by a power of the item's popularity",
        RP3Beta,
        parameters=(_ALPHA, Parameter("beta", 0.5, "power of the popularity that scores are divided by"), *_SHARED),
        cite="Paudel, Christoffel, Newell & Bernstein (2017), ACM TiiS 7(1), doi:10.1145/2955101",
    ),
)
