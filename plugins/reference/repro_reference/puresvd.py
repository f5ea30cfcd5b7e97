"""PureSVD: a truncated SVD of the ratings, with missing ones as zero or as a mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Choice, Parameter
from repro.protocol.decision import When
from repro_reference.bias import Definition, damped_means, users_of_entries
from repro_reference.checks import at_least, one_of
from repro_reference.item_products import gram
from repro_reference.item_weights import ItemWeights
from repro_reference.products import sums

_CREMONESI = "Cremonesi, Koren & Turrin (2010), RecSys, doi:10.1145/1864708.1864721"
_SARWAR = "Sarwar, Karypis, Konstan & Riedl (2000), WebKDD, Application of dimensionality reduction"
VALUES = (
    Choice("ratings", "the rating", "r", _CREMONESI, ("rectools/puresvd",)),
    Choice("binary", "1 for each training row", "1", used_by=("recpack/puresvd",)),
)
MISSING = (
    Choice("zero", "0", "m(u, i) = 0", _CREMONESI, ("rectools/puresvd", "recpack/puresvd")),
    Choice("overall-mean", "the mean of all values", "m(u, i) = m"),
    Choice("user-mean", "the mean value of the user", "m(u, i) = m(u)"),
    Choice("item-mean", "the mean value of the item", "m(u, i) = m(i)", _SARWAR),
    Choice(
        "baseline",
        "the baseline of the algorithm bias",
        "m(u, i) = b(u, i)",
        "Paterek (2007), KDD Cup and Workshop",
        ("lenskit/BiasedSVDScorer",),
    ),
)
SUBTRACTED = (
    Choice("no", "it is not", "R(u, i) = m(u, i)", _CREMONESI, ("rectools/puresvd", "recpack/puresvd")),
    Choice(
        "yes",
        "it is subtracted from all values before, and added to all scores after",
        "R(u, i) = v(u, i) - m(u, i), 0 where it is missing",
        _SARWAR,
        ("lenskit/BiasedSVDScorer",),
    ),
)
SCALINGS = (
    Choice(
        "one-side",
        "factors of users times singular values",
        "U S Q'",
        _CREMONESI,
        ("rectools/puresvd", "lenskit/BiasedSVDScorer"),
    ),
    Choice("none", "neither side has the singular values", "U Q'"),
    Choice("both-sides", "both sides have them: their squares count", "U S^2 Q'", used_by=("recpack/puresvd",)),
)

_BASELINE = (When("missing", ("baseline",)),)


@dataclass(eq=False, kw_only=True)
class PureSVD(ItemWeights):
    """R = U S Q' cut to the largest ``factors`` singular values; score(u, i) = r(u) Q q(i)'.

    r(u) is the user's row of training ratings with zeros for the missing ones, q(i) the item's row of Q
    (Cremonesi, Koren & Turrin 2010). ``scaling`` gives each factor another power of its singular value::

        one-side  r(u) Q q(i)' = U S Q'        none  r(u) Q S^-1 q(i)' = U Q'        both-sides  r(u) Q S q(i)'

    With another ``missing`` m(u, i), it stands where a value is missing; with ``subtracted``, it is also subtracted
    from the others, and added to scores. Where R has a rank below ``factors``, all of its singular vectors are used.
    Unscored: users or items without training rows.
    """

    factors: int = 50
    values: str = "ratings"
    missing: str = "zero"
    user_damping: float = 0.0
    item_damping: float = 0.0
    subtracted: str = "no"
    scaling: str = "one-side"

    def __post_init__(self) -> None:
        at_least(self, factors=1, user_damping=0, item_damping=0)
        one_of(self, values=VALUES, missing=MISSING, subtracted=SUBTRACTED, scaling=SCALINGS)

    def fit(self, train: Interactions, *, seed: int) -> None:
        matrix = self.begin(train, self.values)
        self.of_users_, self.of_items_ = self._means(matrix)
        with threadpool_limits(1):  # more threads would add in another order
            means = self._outer(users_of_entries(matrix), matrix.indices)
            differences = csr_array((matrix.data - means, matrix.indices, matrix.indptr), matrix.shape)
            squares, vectors = right_singular(self._gram(differences), int(self.factors))
            projected = differences @ vectors.T
            if self.subtracted == "no":
                projected += self.of_users_ @ (vectors @ self.of_items_).T
        power = {"one-side": 0.0, "none": -0.5, "both-sides": 0.5}[self.scaling]
        self.user_factors_ = csr_array(projected * squares**power)  # R Q, users by factors
        self.item_factors_ = vectors  # Q', factors by items

    def products(self, users: CodeArray, items: CodeArray) -> FloatArray:
        values = sums(self.user_factors_, users, self.item_factors_, items)
        if self.subtracted == "yes":
            values += self._outer(np.asarray(users)[:, None], np.asarray(items)[None, :])
        return values

    def _means(self, matrix: csr_array) -> tuple[FloatArray, FloatArray]:
        """Two numbers of each user and of each item, whose inner product is m(u, i); 0 for unknown ones."""
        users, items = np.zeros((matrix.shape[0], 2)), np.zeros((matrix.shape[1], 2))
        users[:, 0], items[:, 0] = self.known_users_, self.known_items_
        match self.missing:
            case "user-mean":
                users[:, 0] = damped_means(users_of_entries(matrix), matrix.data, len(users), 0.0)
            case "item-mean":
                items[:, 0] = damped_means(matrix.indices, matrix.data, len(items), 0.0)
            case "overall-mean":
                items[:, 0] *= float(matrix.data.sum()) / max(matrix.nnz, 1)
            case "baseline":
                baseline = Definition(user_damping=self.user_damping, item_damping=self.item_damping).baseline(matrix)
                users[:, 0] *= baseline.overall + baseline.users
                users[:, 1], items[:, 1] = self.known_users_, baseline.items
            case _:
                items[:, 0] = 0.0
        return users, items

    def _outer(self, users: CodeArray, items: CodeArray) -> FloatArray:
        """m(u, i) of users and items."""
        of_users, of_items = self.of_users_, self.of_items_
        means: FloatArray = of_users[users, 0] * of_items[items, 0] + of_users[users, 1] * of_items[items, 1]
        return means

    def _gram(self, differences: csr_array) -> FloatArray:
        """R'R, where R is the differences D, plus the means A B' where they are not subtracted."""
        products = gram(differences)
        if self.subtracted == "no" and self.missing != "zero":
            crossed = (differences.T @ self.of_users_) @ self.of_items_.T  # D'A B'
            products += crossed + crossed.T + self.of_items_ @ (self.of_users_.T @ self.of_users_) @ self.of_items_.T
        return products


def right_singular(products: FloatArray, factors: int) -> tuple[FloatArray, FloatArray]:
    """The largest singular values of R, squared, and as rows its right singular vectors, from R'R; none of a zero one.

    They are the eigenvectors of R'R, from a direct solver: the iteration of ARPACK (``scipy``'s ``svds``) is faster,
    but where singular values are equal or zero it continues with random vectors, which change from call to call.
    """
    size = len(products)
    with threadpool_limits(1):  # more threads would add in another order
        squares, vectors = scipy.linalg.eigh(products, subset_by_index=(max(size - factors, 0), size - 1))
    present = squares > squares[-1] * size * np.finfo(np.float64).eps
    return squares[present][::-1], np.ascontiguousarray(vectors[:, present].T[::-1])


declaration = Algorithm(
    "puresvd",
    "truncated singular value decomposition with missing ratings as zero, or as means",
    PureSVD,
    parameters=(
        Parameter("factors", 50, "how many singular vectors are kept", probe=4),
        Parameter("values", "ratings", "the values of training rows", choices=VALUES),
        Parameter("missing", "zero", "the value of a pair without a training row", choices=MISSING),
        Parameter("user_damping", 0.0, "damping of the user biases of the baseline", when=_BASELINE, neutral=0.0),
        Parameter("item_damping", 0.0, "damping of the item biases of the baseline", when=_BASELINE, neutral=0.0),
        Parameter(
            "subtracted",
            "no",
            "whether the mean is subtracted",
            when=(When("missing", ("overall-mean", "user-mean", "item-mean", "baseline")),),
            choices=SUBTRACTED,
        ),
        Parameter("scaling", "one-side", "where the singular values are", choices=SCALINGS),
    ),
    cite=_CREMONESI,
    defines=True,
)
