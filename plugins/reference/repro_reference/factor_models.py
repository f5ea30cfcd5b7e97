"""Common parts of factor models: initial values, exact least squares of one side, scores and state."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri
from threadpoolctl import threadpool_limits

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Parameter, Queries, Scores
from repro.plugin.api.interfaces import Choice
from repro.plugin.api.scores import Mask
from repro.rng import KeyArray, child_keys, stream, uniform
from repro_reference.bias import Baseline
from repro_reference.checks import at_least, one_of
from repro_reference.known_pairs import KnownPairs
from repro_reference.products import sums

STARTS = (
    Choice("normal", "normal, with mean 0", "x = s z, z ~ N(0, 1)"),
    Choice("uniform", "uniform, from 0 on", "x = s v, v ~ U(0, 1)"),
)
START = Parameter(
    "start", "normal", "the distribution that factors are drawn from before they are learnt", choices=STARTS
)
FACTORS = Parameter("factors", 50, "how many latent factors", probe=4)


def start_scale(default: float) -> Parameter:
    return Parameter("start_scale", default, "s, the scale of the factors that are drawn at the start")


class FactorModel(KnownPairs):
    """score(u, i) = b(u, i) + x(u) y(i), where b is a baseline, or 0.

    Factors start with values drawn from the seed and the ids of users and items, so that those of a user do not depend
    on which others there are. Unscored: users or items without training rows.
    """

    name: str
    factors: int
    start: str
    start_scale: float
    user_factors_: FloatArray
    item_factors_: FloatArray
    baseline_: Baseline | None = None

    def __post_init__(self) -> None:
        at_least(self, factors=1, start_scale=0)
        one_of(self, start=STARTS)

    def begin(self, train: Interactions, seed: int) -> None:
        """Draw the factors; those of users and items without training rows are 0."""
        self.find_known(train)
        self.user_factors_ = self._drawn(seed, "user", train.user_keys, self.known_users_)
        self.item_factors_ = self._drawn(seed, "item", train.item_keys, self.known_items_)

    def _drawn(self, seed: int, side: str, keys: KeyArray, known: Mask) -> FloatArray:
        streams = (stream(seed, "reference", self.name, side, factor) for factor in range(int(self.factors)))
        draws = np.stack([uniform(child_keys(key, keys)) for key in streams], axis=1)
        values = draws if self.start == "uniform" else ndtri(np.maximum(draws, 2.0**-54))
        drawn: FloatArray = float(self.start_scale) * values * known[:, None]
        return drawn

    def products(self, users: CodeArray, items: CodeArray) -> FloatArray:
        values = sums(csr_array(self.user_factors_), users, np.ascontiguousarray(self.item_factors_.T), items)
        return values if self.baseline_ is None else self.baseline_.block(users, items) + values

    def state(self) -> dict[str, FloatArray]:
        users, items = self.known_users_, self.known_items_
        state = {
            "user_factors": np.where(users[:, None], self.user_factors_, np.nan),
            "item_factors": np.where(items[:, None], self.item_factors_, np.nan),
        }
        if self.baseline_ is not None:
            state["user_bias"] = np.where(users, self.baseline_.users, np.nan)
            state["item_bias"] = np.where(items, self.baseline_.items, np.nan)
            state["mean"] = np.asarray(self.baseline_.overall, dtype=np.float64)
        return state


class RatingFactors(FactorModel):
    """A factor model whose scores are predicted ratings."""

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = np.zeros(len(users))
        for factor in range(self.user_factors_.shape[1]):  # in the order in which a block is summed
            values += self.user_factors_[users, factor] * self.item_factors_[items, factor]
        if self.baseline_ is not None:
            values = self.baseline_.pairs(users, items) + values
        return Scores.where(self.known_users_[users] & self.known_items_[items], values)


def solved(
    rows: csr_array,
    weights: FloatArray,
    targets: FloatArray,
    fixed: FloatArray,
    unobserved: float,
    penalties: FloatArray,
) -> FloatArray:
    """The exact least-squares solution of one side, rows by factors; zeros for rows without entries.

    For each row, with the entries j of it, the d(j) of ``weights`` and the t(j) of ``targets``, in the order of the
    matrix, and y of ``fixed``, the solution of::

        (unobserved (sum over all j of y(j) y(j)') + sum of d(j) y(j) y(j)' + penalty I) x = sum of t(j) y(j)

    and the shortest one where there are several.
    """
    solution = np.zeros((rows.shape[0], fixed.shape[1]))
    with threadpool_limits(1):  # more threads would add in another order
        shared = unobserved * (fixed.T @ fixed)
        identity = np.eye(fixed.shape[1])
        for row in range(rows.shape[0]):
            entries = slice(rows.indptr[row], rows.indptr[row + 1])
            if entries.start == entries.stop:
                continue
            of_row = fixed[rows.indices[entries]]
            left = shared + (of_row * weights[entries, None]).T @ of_row + penalties[row] * identity
            right = of_row.T @ targets[entries]
            try:
                solution[row] = np.linalg.solve(left, right)
            except np.linalg.LinAlgError:
                solution[row] = np.linalg.lstsq(left, right)[0]
    return solution


def in_turn(order: str, epochs: int, users: Callable[[], None], items: Callable[[], None]) -> None:
    """Solve for both sides in each epoch, the one that ``order`` names first."""
    sides = (users, items) if order == "users" else (items, users)
    for _ in range(epochs):
        for solve in sides:
            solve()


ORDERS = (Choice("users", "users, then items"), Choice("items", "items, then users"))
ORDER = Parameter("order", "users", "which side is solved for first in each epoch", choices=ORDERS)
