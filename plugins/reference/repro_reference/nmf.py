"""Non-negative matrix factorisation, by multiplicative updates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from repro.data.interactions import FloatArray, Interactions
from repro.plugin import Algorithm, Parameter
from repro.plugin.api.interfaces import Choice
from repro_reference.checks import at_least, one_of
from repro_reference.factor_models import FACTORS, FactorModel
from repro_reference.implicit_als import VALUES

LEE = "Lee & Seung (2000), NIPS"
LUO = "Luo, Zhou, Xia & Zhu (2014), IEEE TII 10(2), doi:10.1109/TII.2014.2308433"
LOSSES = (
    Choice("frobenius", "squared errors", "d = (v - x y)^2 / 2", LEE, ("recpack/NMF", "lenskit/NMFScorer")),
    Choice("kullback-leibler", "the generalised Kullback-Leibler divergence", "d = v log(v / x y) - v + x y", LEE),
)
MISSING = (
    Choice("zero", "all pairs count, those without a row as 0", "", LEE, ("recpack/NMF", "lenskit/NMFScorer")),
    Choice("left-out", "pairs with a row count", "", LUO, ("surprise/NMF", "cornac/NMF")),
)
PENALTIES = (
    Choice("constant", "the same for each user and item", "s = 1"),
    Choice("count", "once for each row", "s = n", LUO, ("surprise/NMF", "cornac/NMF")),
    Choice("others", "once for each item (of a user) or user (of an item)", "s = m", "", ("recpack/NMF",)),
)


@dataclass(eq=False, kw_only=True)
class NMF(FactorModel):
    """Factors x and y, none negative, that minimise (Lee & Seung 2000)::

        sum of d(v(u, i), x(u) y(i)) + regularisation (sum of s(u) |x(u)|^2 + sum of s(i) |y(i)|^2) / 2

    where d is ``loss``, the sum is over the pairs of ``missing``, and s is ``penalty``. In each epoch all x are
    multiplied by the ratio of the negative to the positive part of the gradient, then all y. Users and items without
    training rows are no part of it.
    """

    name = "nmf"
    start, start_scale = "uniform", 1.0
    factors: int = 50
    epochs: int = 200
    regularisation: float = 0.0
    values: str = "ratings"
    loss: str = "frobenius"
    missing: str = "zero"
    penalty: str = "constant"

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, epochs=1, regularisation=0)
        one_of(self, **_OPTIONS)

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.begin(train, seed)
        rows = train.matrix()
        if self.values == "binary":
            rows.data = np.ones_like(rows.data)
        columns = csr_array(rows.T)
        of_users = self._penalties(train.user_counts().astype(np.float64), int(self.known_items_.sum()))
        of_items = self._penalties(train.item_counts().astype(np.float64), int(self.known_users_.sum()))
        with threadpool_limits(1):  # more threads would add in another order
            for _ in range(int(self.epochs)):
                self.user_factors_ = self._updated(rows, self.user_factors_, self.item_factors_, of_users)
                self.item_factors_ = self._updated(columns, self.item_factors_, self.user_factors_, of_items)

    def _penalties(self, counts: FloatArray, others: int) -> FloatArray:
        scales = {"constant": np.ones(len(counts)), "count": counts, "others": np.full(len(counts), float(others))}
        return self.regularisation * scales[self.penalty]

    def _updated(self, rows: csr_array, own: FloatArray, fixed: FloatArray, penalties: FloatArray) -> FloatArray:
        of_entries = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        products = np.einsum("nf,nf->n", own[of_entries], fixed[rows.indices])
        if self.loss == "frobenius":
            upper = rows @ fixed
            lower = _with(rows, products) @ fixed if self.missing == "left-out" else own @ (fixed.T @ fixed)
        else:
            ratios = np.divide(rows.data, products, out=np.zeros_like(products), where=products > 0)
            upper = _with(rows, ratios) @ fixed
            ones = _with(rows, np.ones_like(products))
            lower = ones @ fixed if self.missing == "left-out" else np.broadcast_to(fixed.sum(axis=0), own.shape)
        lower = lower + penalties[:, None] * own
        return own * np.divide(upper, lower, out=np.zeros_like(own), where=lower > 0)


def _with(rows: csr_array, values: FloatArray) -> csr_array:
    """The matrix with other values of its entries."""
    return csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


_OPTIONS = {"values": VALUES, "loss": LOSSES, "missing": MISSING, "penalty": PENALTIES}
declaration = Algorithm(
    "nmf",
    "non-negative matrix factorisation, by multiplicative updates",
    NMF,
    parameters=(
        FACTORS,
        Parameter("epochs", 200, "how often both sides are updated"),
        Parameter("regularisation", 0.0, "the weight of half the squared factors", neutral=0.0, probe=0.3),
        Parameter("values", "ratings", "v, what counts of a training row", choices=VALUES),
        Parameter("loss", "frobenius", "the loss d of a pair", choices=LOSSES),
        Parameter("missing", "zero", "what pairs without a training row count", choices=MISSING),
        Parameter("penalty", "constant", "the scale s of the penalty of each user and item", choices=PENALTIES),
    ),
    unmapped={"learning_rate": "factors are multiplied by a ratio that follows from the data"},
    cite=LEE,
)
