"""Factorisation of ratings, with exact alternating least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from repro.data.interactions import FloatArray, Interactions
from repro.plugin import Algorithm, Parameter
from repro.plugin.api.interfaces import Choice
from repro.protocol.decision import When
from repro_reference.bias import Baseline, Definition, users_of_entries
from repro_reference.checks import at_least, one_of
from repro_reference.factor_models import (
    FACTORS,
    ORDER,
    ORDERS,
    START,
    RatingFactors,
    in_turn,
    solved,
    start_scale,
)
from repro_reference.implicit_als import ZHOU

OFFSETS = (
    Choice("none", "nothing: the product is the rating", "b = 0", ZHOU, ("spark/ALS",)),
    Choice("mean", "the mean of all ratings", "b = m"),
    Choice("biases", "mean, item bias and user bias, one after the other", "b = m + b(i) + b(u)"),
)
PENALTIES = (
    Choice("count", "once for each rating", "s = n", ZHOU, ("lenskit/BiasedMFScorer", "spark/ALS")),
    Choice("constant", "once for each user and item", "s = 1"),
)
_DAMPED = (When("offset", ("biases",)),)


@dataclass(eq=False, kw_only=True)
class ExplicitALS(RatingFactors):
    """Factors x and y that minimise, over the training rows (Zhou et al. 2008)::

        sum of (r(u, i) - b(u, i) - x(u) y(i))^2
            + regularisation (sum over u of s(u) |x(u)|^2 + sum over i of s(i) |y(i)|^2)

    where b is ``offset``, which is computed before, and s is ``penalty``. Each epoch solves for all users and all items
    in turn, exactly. The damped biases are those of the algorithm ``bias``.
    """

    name = "explicit-als"
    factors: int = 50
    epochs: int = 15
    regularisation: float = 0.1
    offset: str = "biases"
    user_damping: float = 0.0
    item_damping: float = 0.0
    penalty: str = "count"
    order: str = "users"
    start: str = "normal"
    start_scale: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, epochs=1, regularisation=0, user_damping=0, item_damping=0)
        one_of(self, offset=OFFSETS, penalty=PENALTIES, order=ORDERS)

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.begin(train, seed)
        self.baseline_ = self._baseline(train)
        rows = train.matrix()
        if self.baseline_ is not None:
            rows.data = rows.data - self.baseline_.pairs(users_of_entries(rows), rows.indices)
        columns = csr_array(rows.T)
        of_users, of_items = (self._penalties(counts) for counts in (train.user_counts(), train.item_counts()))
        ones = np.ones(len(train))

        def users() -> None:
            self.user_factors_ = solved(rows, ones, rows.data, self.item_factors_, 0.0, of_users)

        def items() -> None:
            self.item_factors_ = solved(columns, ones, columns.data, self.user_factors_, 0.0, of_items)

        in_turn(self.order, int(self.epochs), users, items)

    def _penalties(self, counts: npt.NDArray[np.int64]) -> FloatArray:
        sizes = counts if self.penalty == "count" else np.ones(len(counts))
        return sizes.astype(np.float64) * self.regularisation

    def _baseline(self, train: Interactions) -> Baseline | None:
        if self.offset == "biases":
            return Definition(user_damping=self.user_damping, item_damping=self.item_damping).baseline(train.matrix())
        if self.offset == "mean":
            mean = float(train.matrix().data.sum()) / max(len(train), 1)
            return Baseline(mean, np.zeros(train.n_users), np.zeros(train.n_items))
        return None


declaration = Algorithm(
    "explicit-als",
    "factorisation of ratings, with exact alternating least squares",
    ExplicitALS,
    parameters=(
        FACTORS,
        Parameter("epochs", 15, "how often both sides are solved for"),
        Parameter("regularisation", 0.1, "the weight of squared factors", probe=0.5),
        Parameter("offset", "biases", "what is subtracted from ratings before, and added after", choices=OFFSETS),
        Parameter("user_damping", 0.0, "imagined ratings without bias of each user", when=_DAMPED, neutral=0.0),
        Parameter("item_damping", 0.0, "imagined ratings without bias of each item", when=_DAMPED, neutral=0.0),
        Parameter("penalty", "count", "the scale s of the penalty of each user and item", choices=PENALTIES),
        ORDER,
        START,
        start_scale(0.1),
    ),
    predicts=True,
    cite=ZHOU,
)
