"""Factorisation of ratings with biases, by stochastic gradient descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from repro.data.interactions import Interactions
from repro.plugin import Algorithm, Parameter
from repro.plugin.api.interfaces import Choice
from repro.protocol.decision import When
from repro.rng import stream
from repro_reference.bias import Baseline
from repro_reference.checks import at_least, one_of
from repro_reference.factor_models import FACTORS, START, RatingFactors, start_scale

KOREN = "Koren, Bell & Volinsky (2009), IEEE Computer 42(8), doi:10.1109/MC.2009.263"
OFFSETS = (
    Choice("none", "the product is the rating", "b = 0"),
    Choice("mean", "the mean of all ratings", "b = m"),
    Choice(
        "biases",
        "the mean, and biases that are learnt with the factors",
        "b = m + b(u) + b(i)",
        KOREN,
        ("surprise/SVD", "cornac/MF"),
    ),
)
ORDERS = (
    Choice("sorted", "by user and item, in each epoch the same"),
    Choice("shuffled", "drawn in each epoch"),
)


@dataclass(eq=False, kw_only=True)
class BiasedMF(RatingFactors):
    """Biases and factors that minimise, over the training rows (Koren et al. 2009)::

        sum of (r(u, i) - b - x(u) y(i))^2 + regularisation (|x(u)|^2 + |y(i)|^2)
            + bias_regularisation (b(u)^2 + b(i)^2)

    by steps against the gradient of one row after the other, with e the error of the row before the step::

        x(u) += learning_rate (e y(i) - regularisation x(u)),   y(i) += learning_rate (e x(u) - regularisation y(i))
        b(u) += learning_rate (e - bias_regularisation b(u)),   b(i) += learning_rate (e - bias_regularisation b(i))

    A penalty belongs to each row, so that the parameters of a user with n rows are penalised n times.
    """

    name = "biased-mf"
    factors: int = 50
    epochs: int = 20
    learning_rate: float = 0.005
    regularisation: float = 0.02
    offset: str = "biases"
    bias_regularisation: float = 0.02
    rows: str = "shuffled"
    start: str = "normal"
    start_scale: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, epochs=0, learning_rate=0, regularisation=0, bias_regularisation=0)
        one_of(self, offset=OFFSETS, rows=ORDERS)

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.begin(train, seed)
        rows = train.canonical()
        mean = 0.0 if self.offset == "none" else float(rows.ratings.sum()) / max(len(rows), 1)
        baseline = Baseline(mean, np.zeros(train.n_users), np.zeros(train.n_items))
        draws = np.random.default_rng(int(stream(seed, "reference", self.name, "rows")))
        arrays = rows.users.astype(np.int64), rows.items.astype(np.int64), rows.ratings
        learnt = self.user_factors_, self.item_factors_, baseline.users, baseline.items
        rates = float(self.learning_rate), float(self.regularisation), float(self.bias_regularisation)
        for _ in range(int(self.epochs)):
            order = np.arange(len(rows)) if self.rows == "sorted" else draws.permutation(len(rows))
            _epoch(order, *arrays, mean, *learnt, *rates, self.offset == "biases")
        self.baseline_ = None if self.offset == "none" else baseline


@njit(cache=True)
def _epoch(order, users, items, ratings, mean, x, y, of_users, of_items, rate, penalty, of_biases, biased):  # type: ignore[no-untyped-def]
    factors = x.shape[1]
    for row in order:
        user, item = users[row], items[row]
        error = ratings[row] - (mean + of_users[user] + of_items[item])
        for factor in range(factors):
            error -= x[user, factor] * y[item, factor]
        for factor in range(factors):
            before = x[user, factor]
            x[user, factor] += rate * (error * y[item, factor] - penalty * before)
            y[item, factor] += rate * (error * before - penalty * y[item, factor])
        if biased:
            of_users[user] += rate * (error - of_biases * of_users[user])
            of_items[item] += rate * (error - of_biases * of_items[item])


declaration = Algorithm(
    "biased-mf",
    "factorisation of ratings with biases, by stochastic gradient descent",
    BiasedMF,
    parameters=(
        FACTORS,
        Parameter("epochs", 20, "how often the training rows are gone through"),
        Parameter("learning_rate", 0.005, "the step of gradient descent"),
        Parameter("regularisation", 0.02, "the weight of squared factors, once for each row", probe=0.2),
        Parameter("offset", "biases", "what is added to the product of factors", choices=OFFSETS),
        Parameter(
            "bias_regularisation",
            0.02,
            "the weight of squared biases, once for each row",
            when=(When("offset", ("biases",)),),
            neutral=0.0,
            probe=0.1,
        ),
        Parameter("rows", "shuffled", "the order of the rows", choices=ORDERS),
        START,
        start_scale(0.1),
    ),
    predicts=True,
    cite=KOREN,
)
