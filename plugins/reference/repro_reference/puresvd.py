"""PureSVD: a truncated SVD of the ratings, with missing ones as zero."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Parameter, Queries, Scores
from repro_reference.checks import at_least
from repro_reference.products import sums


class PureSVD:
    """R = U S Q' cut to the largest ``factors`` singular values; score(u, i) = r(u) Q q(i)'.

    r(u) is the user's row of training ratings with zeros for the missing ones, q(i) the item's row of Q
    (Cremonesi, Koren & Turrin 2010). Where R has a rank below ``factors``, all of its singular vectors are used.
    Unscored: users or items without training rows.
    """

    def __init__(self, *, factors: int = 50) -> None:
        at_least("factors", factors, 1)
        self.factors = factors

    def fit(self, train: Interactions, *, seed: int) -> None:
        ratings = train.matrix()
        vectors = right_singular_vectors(ratings, int(self.factors))
        self.item_factors_ = vectors  # Q', factors by items
        self.user_factors_ = csr_array(ratings @ vectors.T)  # R Q, users by factors
        self.known_users_ = train.user_counts() > 0
        self.known_items_ = train.item_counts() > 0

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = sums(self.user_factors_, users, self.item_factors_, items)
        return Scores.where(self.known_users_[users][:, None] & self.known_items_[items], values)


def right_singular_vectors(matrix: csr_array, factors: int) -> FloatArray:
    """Rows: the right singular vectors of the largest singular values, largest first; none of a zero one.

    They are the eigenvectors of R'R, from a direct solver: the iteration of ARPACK (``scipy``'s ``svds``) is faster,
    but where singular values are equal or zero it continues with random vectors, which change from call to call.
    """
    gram = (matrix.T @ matrix).toarray()
    size = len(gram)
    with threadpool_limits(1):  # more threads would add in another order
        squares, vectors = scipy.linalg.eigh(gram, subset_by_index=(max(size - factors, 0), size - 1))
    present = squares > squares[-1] * size * np.finfo(np.float64).eps
    return np.ascontiguousarray(vectors[:, present].T[::-1])


declaration = Algorithm(
    "puresvd",
    "truncated singular value decomposition with missing ratings as zero",
    PureSVD,
    parameters=(Parameter("factors", 50, "how many singular vectors are kept"),),
    cite="Cremonesi, Koren & Turrin (2010), RecSys, doi:10.1145/1864708.1864721",
    defines=True,
)
