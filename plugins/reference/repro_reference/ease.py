"""EASE: the linear item-item model with a closed form."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Parameter, Queries, Scores
from repro_reference.checks import above, one_of
from repro_reference.products import sums

VALUES = ("binary", "ratings")


class EASE:
    """score(u, .) = x(u) B, with the B of zero diagonal that minimises
    |X - X B|^2 + regularisation |B|^2 (Steck 2019)::

        P = (X'X + regularisation I)^-1        B(i, j) = -P(i, j) / P(j, j) off the diagonal

    X holds a 1 for each training row (``binary``), or its rating. Unscored: users or items without training rows.
    """

    def __init__(self, *, regularisation: float = 500.0, values: str = "binary") -> None:
        above("regularisation", regularisation, 0)
        one_of("values", values, VALUES)
        self.regularisation = regularisation
        self.values = values

    def fit(self, train: Interactions, *, seed: int) -> None:
        matrix = train.matrix()
        if self.values == "binary":
            matrix = csr_array((np.ones(len(train)), matrix.indices, matrix.indptr), matrix.shape)
        self.rows_ = matrix
        self.weights_ = item_weights(matrix, self.regularisation)
        self.known_users_ = train.user_counts() > 0
        self.known_items_ = train.item_counts() > 0

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = sums(self.rows_, users, self.weights_, items)
        return Scores.where(self.known_users_[users][:, None] & self.known_items_[items], values)


def item_weights(matrix: csr_array, regularisation: float) -> FloatArray:
    """B of :class:`EASE`."""
    gram = (matrix.T @ matrix).toarray()
    gram[np.diag_indices_from(gram)] += regularisation
    with threadpool_limits(1):  # more threads would add in another order
        weights: FloatArray = np.linalg.inv(gram)
    weights /= -np.diag(weights)
    np.fill_diagonal(weights, 0.0)
    return weights


declaration = Algorithm(
    "ease",
    "linear item-item model in closed form",
    EASE,
    parameters=(
        Parameter("regularisation", 500.0, "weight of the squared norm of B (the paper's lambda)"),
        Parameter("values", "binary", "1 for each training row, or its rating", VALUES),
    ),
    cite="Steck (2019), WWW, doi:10.1145/3308558.3313710",
    defines=True,
)
