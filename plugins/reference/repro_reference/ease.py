"""EASE: the linear item-item model with a closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm, Choice, Parameter
from repro_reference.checks import above, at_least, one_of
from repro_reference.item_products import gram
from repro_reference.item_weights import ItemWeights
from repro_reference.kernel_ridge import KernelRidge
from repro_reference.ridge import inverse_of

_STECK = "Steck (2019), WWW, doi:10.1145/3308558.3313710"
VALUES = (
    Choice("binary", "1 for each training row", "x = 1", _STECK, ("lenskit/ease", "recpack/ease", "recbole/ease")),
    Choice("ratings", "the rating", "x = r", used_by=("cornac/ease", "rectools/ease")),
)
PENALTIES = (
    Choice(
        "fixed",
        "the same for all weights",
        "regularisation |B|^2",
        _STECK,
        ("lenskit/ease", "recpack/ease", "recbole/ease", "cornac/ease", "rectools/ease"),
    ),
    Choice(
        "users",
        "in proportion to the number of users with training rows: the error is a mean over users",
        "regularisation n |B|^2",
    ),
    Choice(
        "count",
        "in proportion to the squared norm of the item whose weight it is, which is what dropout does on average",
        "regularisation sum over i of |X(., i)|^2 |B(i, .)|^2",
        "Steck (2020), NeurIPS, Autoencoders that don't overfit towards the identity",
    ),
)
SIGNS = (
    Choice(
        "any",
        "of both signs",
        "B(i, j)",
        _STECK,
        ("lenskit/ease", "recpack/ease", "recbole/ease", "rectools/ease", "cornac/ease"),
    ),
    Choice("positive", "negative weights are set to 0 afterwards", "max(B(i, j), 0)", used_by=("cornac/ease",)),
)
SIDES = (
    Choice(
        "columns",
        "a column of B has the weights for an item, as it was fitted",
        "x(u) B",
        _STECK,
        ("lenskit/ease", "recpack/ease", "recbole/ease", "cornac/ease"),
    ),
    Choice("rows", "a row of B has the weights for an item: B is transposed", "x(u) B'", used_by=("rectools/ease",)),
)


@dataclass(eq=False, kw_only=True)
class EASE(ItemWeights):
    """score(u, .) = x(u) B, with the B of zero diagonal that minimises
    |X - X B|^2 + regularisation |B|^2 (Steck 2019)::

        P = (X'X + regularisation I)^-1        B(i, j) = -P(i, j) / P(j, j) off the diagonal

    X holds a 1 for each training row (``binary``), or its rating. With a ``popularity_power``, scores are divided by
    this power of |X(., i)|^2, the number of rows of the item in a binary X (Steck 2019, arXiv:1904.13033, section 4.2).
    Unscored: users or items without training rows.

    Where users are fewer than items, the same scores are computed from X X' (:mod:`repro_reference.kernel_ridge`).
    """

    regularisation: float = 500.0
    values: str = "binary"
    penalty: str = "fixed"
    signs: str = "any"
    side: str = "columns"
    popularity_power: float = 0.0

    def __post_init__(self) -> None:
        above(self, regularisation=0)
        at_least(self, popularity_power=0)
        one_of(self, values=VALUES, penalty=PENALTIES, signs=SIGNS, side=SIDES)

    def fit(self, train: Interactions, *, seed: int) -> None:
        matrix = self.begin(train, self.values)
        users, items = np.count_nonzero(self.known_users_), np.count_nonzero(self.known_items_)
        regularisation = float(self.regularisation) * (users if self.penalty == "users" else 1.0)
        plain = self.penalty != "count" and self.signs == "any" and self.side == "columns"
        squares = np.bincount(matrix.indices, weights=matrix.data**2, minlength=train.n_items)
        self.discounts_ = np.where(squares > 0, squares, 1.0) ** -float(self.popularity_power)
        self.by_users_ = KernelRidge(matrix, regularisation) if plain and users < items else None
        if self.by_users_ is None:
            self.weights_ = self._weights(matrix, regularisation)

    def products(self, users: CodeArray, items: CodeArray) -> FloatArray:
        by_users = self.by_users_
        products = super().products(users, items) if by_users is None else by_users.scores(users, items)
        return products * self.discounts_[items] if self.popularity_power else products

    def _weights(self, matrix: csr_array, regularisation: float) -> FloatArray:
        """B, or its transpose."""
        products = gram(matrix)
        diagonal = np.diag(products)
        penalties = regularisation * (diagonal if self.penalty == "count" else 1.0)
        weights = inverse_of(products, penalties + np.where(self.known_items_, 0.0, 1.0))
        weights /= -np.diag(weights)
        np.fill_diagonal(weights, 0.0)
        if self.signs == "positive":
            np.maximum(weights, 0.0, out=weights)
        return weights if self.side == "columns" else np.ascontiguousarray(weights.T)


declaration = Algorithm(
    "ease",
    "linear item-item model in closed form",
    EASE,
    parameters=(
        Parameter("regularisation", 500.0, "weight of the squared norm of B (the paper's lambda)", probe=3.0),
        Parameter("values", "binary", "the entries of X", choices=VALUES),
        Parameter("penalty", "fixed", "what the weight of squared weights is in proportion to", choices=PENALTIES),
        Parameter("signs", "any", "the signs of weights", choices=SIGNS),
        Parameter("side", "columns", "which side of B has the items that are scored", choices=SIDES),
        Parameter(
            "popularity_power", 0.0, "power of the squared norm of the item, over scores", neutral=0.0, probe=0.5
        ),
    ),
    cite=_STECK,
    defines=True,
)
