"""Parts of objectives: their gradients, and the exact solution for one side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray, Interactions

Codes = npt.NDArray[np.int64]
SideName = Literal["users", "items"]
# The upper and the lower part of half the gradient are both sums that are not negative where the factors are not.
Parts = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Rows:
    """Training rows of users and items that all have some, by their numbers from 0."""

    users: Codes
    items: Codes
    values: FloatArray
    shape: tuple[int, int]

    @classmethod
    def of(cls, train: Interactions) -> Rows:
        """The rows of training data whose users and items all have rows."""
        return cls(
            train.users.astype(np.int64),
            train.items.astype(np.int64),
            train.ratings.astype(np.float64),
            (train.n_users, train.n_items),
        )

    def side(self, name: SideName) -> Side:
        """The rows as seen from the users, or from the items."""
        if name == "users":
            return Side(self.users, self.items, *self.shape)
        return Side(self.items, self.users, self.shape[1], self.shape[0])

    def counts(self, name: SideName) -> FloatArray:
        """The number of rows of each user or item."""
        side = self.side(name)
        return np.bincount(side.own, minlength=side.size).astype(np.float64)

    def totals(self, name: SideName, weights: FloatArray) -> FloatArray:
        """The sum of weights of rows of each user or item."""
        side = self.side(name)
        return np.bincount(side.own, weights=weights, minlength=side.size).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Side:
    """The numbers of each row on the own and on the other side, and the sizes of both."""

    own: Codes
    other: Codes
    size: int
    others: int

    def sums(self, weights: FloatArray, fixed: FloatArray) -> FloatArray:
        """For each of the own side, the weighted sum of the factors of its rows on the other side."""
        picked = weights[:, None] * fixed[self.other]
        columns = [np.bincount(self.own, weights=column, minlength=self.size) for column in picked.T]
        return np.stack(columns, axis=1)

    def products(self, own: FloatArray, fixed: FloatArray) -> FloatArray:
        """The product of the factors of each row."""
        return np.einsum("nk,nk->n", own[self.own], fixed[self.other])


@dataclass(frozen=True, eq=False)
class Squares:
    """A part of a quadratic objective, with s = x(u) y(i)::

        sum over training rows of (quadratic s^2 - 2 linear s) + everywhere (sum over all pairs of s^2)
            + sum over users of penalty(u) |x(u)|^2 + 2 absolute(u) |x(u)| + sum over items likewise

    key identifies it among the parts of an objective on the same rows; numbers that are left out are 0.
    """

    key: str
    quadratic: FloatArray | None = None
    linear: FloatArray | None = None
    everywhere: float = 0.0
    penalties: Mapping[SideName, FloatArray] | None = None
    absolute: Mapping[SideName, FloatArray] | None = None

    def gradient(self, side: Side, name: SideName, own: FloatArray, fixed: FloatArray) -> Parts:
        """The lower and the upper part of half the gradient: their difference is the gradient."""
        lower, upper = np.zeros_like(own), np.zeros_like(own)
        if self.quadratic is not None:
            lower += side.sums(self.quadratic * side.products(own, fixed), fixed)
        if self.linear is not None:
            upper += side.sums(self.linear, fixed)
        if self.everywhere:
            lower += self.everywhere * (own @ (fixed.T @ fixed))
        if self.penalties is not None and name in self.penalties:
            lower += self.penalties[name][:, None] * own
        if self.absolute is not None and name in self.absolute:
            lower += self.absolute[name][:, None]
        return lower, upper


@dataclass(frozen=True, eq=False)
class Divergence:
    """The generalised Kullback-Leibler divergence of the products from ``values``: over the rows, or over all pairs."""

    key: str
    values: FloatArray
    everywhere: bool

    def gradient(self, side: Side, name: SideName, own: FloatArray, fixed: FloatArray) -> Parts:
        """The lower and the upper part of the gradient."""
        products = side.products(own, fixed)
        ratios = np.divide(self.values, products, out=np.zeros_like(products), where=products > 0)
        upper = side.sums(ratios, fixed)
        if self.everywhere:
            return np.broadcast_to(fixed.sum(axis=0), own.shape).copy(), upper
        return side.sums(np.ones_like(products), fixed), upper


Term = Squares | Divergence


def combined(terms: Sequence[tuple[float, Squares]]) -> Squares:
    """The sum of parts, each times a number."""

    def added(arrays: Sequence[tuple[float, FloatArray | None]]) -> FloatArray | None:
        total: FloatArray | None = None
        for number, array in arrays:
            if array is not None:
                total = np.asarray(number * array if total is None else total + number * array, dtype=np.float64)
        return total

    penalties = {
        name: array
        for name in ("users", "items")
        if (array := added([(number, (term.penalties or {}).get(name)) for number, term in terms])) is not None
    }
    return Squares(
        "",
        added([(number, term.quadratic) for number, term in terms]),
        added([(number, term.linear) for number, term in terms]),
        float(sum(number * term.everywhere for number, term in terms)),
        penalties,  # type: ignore[arg-type]
    )


def half_step(term: Squares, side: Side, name: SideName, fixed: FloatArray) -> FloatArray | None:
    """The exact minimiser of a quadratic objective for one side; None where it is not unique."""
    width = fixed.shape[1]
    left = np.zeros((side.size, width, width))
    right = np.zeros((side.size, width))
    if term.quadratic is not None:
        for first in range(width):
            weights = term.quadratic * fixed[side.other, first]
            left[:, first] = side.sums(weights, fixed)
    if term.linear is not None:
        right = side.sums(term.linear, fixed)
    left += term.everywhere * (fixed.T @ fixed)
    if term.penalties and name in term.penalties:
        left += term.penalties[name][:, None, None] * np.eye(width)
    try:
        solution: FloatArray = np.linalg.solve(left, right[:, :, None])[:, :, 0].astype(np.float64)
    except np.linalg.LinAlgError:
        return None
    return solution if np.isfinite(solution).all() else None
