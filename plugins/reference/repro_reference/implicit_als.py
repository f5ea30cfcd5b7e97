"""Weighted factorisation of implicit feedback, with exact alternating least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import FloatArray, Interactions
from repro.plugin import Algorithm, Parameter
from repro.plugin.api.interfaces import Choice
from repro.protocol.decision import When
from repro_reference.checks import above, at_least, one_of
from repro_reference.factor_models import FACTORS, ORDER, ORDERS, START, FactorModel, in_turn, solved, start_scale

HU = "Hu, Koren & Volinsky (2008), ICDM, doi:10.1109/ICDM.2008.22"
IALS = "Rendle, Krichene, Zhang & Koren (2022), RecSys, doi:10.1145/3523227.3548486"
ZHOU = "Zhou, Wilkinson, Schreiber & Pan (2008), AAIM, doi:10.1007/978-3-540-68880-8_32"
VALUES = (
    Choice("ratings", "the rating", "v = r"),
    Choice("binary", "1 for each row", "v = 1"),
)
CONFIDENCES = (
    Choice(
        "plus-one",
        "one more than a multiple of the value",
        "c = 1 + alpha v",
        HU,
        ("lenskit/ImplicitMFScorer", "recpack/WeightedMatrixFactorization", "spark/ALS"),
    ),
    Choice(
        "linear",
        "a multiple of the value",
        "c = alpha v",
        "",
        ("implicit/AlternatingLeastSquares", "rectools/ImplicitALSWrapperModel"),
    ),
    Choice("logarithmic", "growing with the logarithm of the value", "c = 1 + alpha log(1 + v / epsilon)", HU),
    Choice("one", "the same for all rows", "c = 1", IALS),
)
ZEROS = (
    Choice("unobserved", "pairs without a training row", "w0 sum over (u, i) without a row", HU),
    Choice("all", "all pairs, so that those with a row are in both sums", "w0 sum over all (u, i)", IALS),
)
TARGETS = (
    Choice("one", "1", "t = 1", HU),
    Choice("value", "the rating", "t = r"),
)
PENALTIES = (
    Choice("constant", "the same for each user and item", "s = 1", HU, ("implicit/AlternatingLeastSquares",)),
    Choice("count", "growing with the number of rows of the user or item", "s = n^power", ZHOU, ("spark/ALS",)),
    Choice(
        "count-and-zeros",
        "growing with the weight of all pairs of the user or item",
        "s = (n + w0 m)^power, m the number of items (of a user) or users (of an item)",
        IALS,
    ),
    Choice("others", "growing with the number of all items (of a user) or users (of an item)", "s = m"),
    Choice("weights", "growing with the sum of the weights of the rows of the user or item", "s = sum of c"),
)


@dataclass(eq=False, kw_only=True)
class ImplicitALS(FactorModel):
    """Factors x and y that minimise, for the training rows O and the pairs Z whose target is 0 (Hu et al. 2008)::

        sum over O of c(u, i) (t(u, i) - x(u) y(i))^2 + w0 sum over Z of (x(u) y(i))^2
            + regularisation (sum over u of s(u) |x(u)|^2 + sum over i of s(i) |y(i)|^2)

    where w0 is ``unobserved`` and c, t, Z and s follow from ``confidence``, ``target``, ``zeros`` and ``penalty``. Each
    epoch solves for all users and all items in turn, exactly. Users and items without training rows are no part of it.
    """

    name = "implicit-als"
    factors: int = 50
    epochs: int = 15
    regularisation: float = 0.1
    alpha: float = 1.0
    values: str = "ratings"
    confidence: str = "plus-one"
    epsilon: float = 1.0
    unobserved: float = 1.0
    zeros: str = "unobserved"
    target: str = "one"
    penalty: str = "constant"
    power: float = 1.0
    order: str = "users"
    start: str = "normal"
    start_scale: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, epochs=1, regularisation=0, alpha=0, unobserved=0, power=0)
        above(self, epsilon=0)
        one_of(self, **_OPTIONS)

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.begin(train, seed)
        rows = train.matrix()
        columns = csr_array(rows.T)
        by_users, by_items = self._confidences(rows.data), self._confidences(columns.data)
        to_users, to_items = self._targets(rows.data), self._targets(columns.data)
        of_users = self._penalties(rows, by_users, int(self.known_items_.sum()))
        of_items = self._penalties(columns, by_items, int(self.known_users_.sum()))
        subtracted = self.unobserved if self.zeros == "unobserved" else 0.0

        def users() -> None:
            weights, targets = by_users - subtracted, by_users * to_users
            self.user_factors_ = solved(rows, weights, targets, self.item_factors_, self.unobserved, of_users)

        def items() -> None:
            weights, targets = by_items - subtracted, by_items * to_items
            self.item_factors_ = solved(columns, weights, targets, self.user_factors_, self.unobserved, of_items)

        in_turn(self.order, int(self.epochs), users, items)

    def _confidences(self, ratings: FloatArray) -> FloatArray:
        values = ratings if self.values == "ratings" else np.ones_like(ratings)
        match self.confidence:
            case "plus-one":
                return 1.0 + self.alpha * values
            case "linear":
                return self.alpha * values
            case "logarithmic":
                logarithmic: FloatArray = 1.0 + self.alpha * np.log1p(values / self.epsilon)
                return logarithmic
            case _:
                return np.ones_like(values)

    def _targets(self, ratings: FloatArray) -> FloatArray:
        return ratings if self.target == "value" else np.ones_like(ratings)

    def _penalties(self, rows: csr_array, confidences: FloatArray, others: int) -> FloatArray:
        """The penalty of each user, or of each item, from their rows and the size of the other side."""
        counts = np.diff(rows.indptr).astype(np.float64)
        match self.penalty:
            case "constant":
                return np.full(len(counts), float(self.regularisation))
            case "others":
                return np.full(len(counts), float(self.regularisation) * others)
            case "weights":
                of_rows = np.repeat(np.arange(len(counts)), np.diff(rows.indptr))
                sums = np.bincount(of_rows, weights=confidences, minlength=len(counts))
                return self.regularisation * sums.astype(np.float64)
        zeros = self.unobserved * others if self.penalty == "count-and-zeros" else 0.0
        penalties: FloatArray = self.regularisation * (counts + zeros) ** self.power
        return penalties


_OPTIONS = {
    "values": VALUES,
    "confidence": CONFIDENCES,
    "zeros": ZEROS,
    "target": TARGETS,
    "penalty": PENALTIES,
    "order": ORDERS,
}
_CHOICES = (
    Parameter("values", "ratings", "what counts of a training row", choices=VALUES),
    Parameter("confidence", "plus-one", "the weight c of a training row", choices=CONFIDENCES),
    Parameter(
        "epsilon", 1.0, "the value that logarithms are relative to", when=(When("confidence", ("logarithmic",)),)
    ),
    Parameter("unobserved", 1.0, "w0, the weight of pairs whose target is 0"),
    Parameter("zeros", "unobserved", "the pairs Z whose target is 0", choices=ZEROS),
    Parameter("target", "one", "t, what the product of a training row should be", choices=TARGETS),
    Parameter("penalty", "constant", "the scale s of the penalty of each user and item", choices=PENALTIES),
    Parameter(
        "power",
        1.0,
        "the exponent of the scale of the penalty",
        when=(When("penalty", ("count", "count-and-zeros")),),
        neutral=0.0,
    ),
    ORDER,
    START,
    start_scale(0.1),
)
declaration = Algorithm(
    "implicit-als",
    "weighted factorisation of implicit feedback, with exact alternating least squares",
    ImplicitALS,
    parameters=(
        FACTORS,
        Parameter("epochs", 15, "how often both sides are solved for"),
        Parameter("regularisation", 0.1, "the weight of squared factors", probe=5.0),
        Parameter("alpha", 1.0, "how much more a training row counts", probe=3.0),
        *_CHOICES,
    ),
    cite=HU,
)
