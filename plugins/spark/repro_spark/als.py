"""Alternating least squares, on ratings and on implicit feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.errors import PluginError
from repro.plugin import Algorithm, Parameter, ParameterValue, Queries, Recommender, Scores
from repro.plugin.api.adapting import canonical_parameters, renamed
from repro_spark.factors import Factors, collected
from repro_spark.session import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CITE_IMPLICIT = "Hu, Koren & Volinsky (2008), ICDM, doi:10.1109/ICDM.2008.22"
CITE_EXPLICIT = "Zhou, Wilkinson, Schreiber & Pan (2008), AAIM, doi:10.1007/978-3-540-68880-8_32"


class ImplicitALS:
    """Factors x and y that minimise, over all pairs of a user and an item with or without a row (Hu et al. 2008)::

        sum of (1 + alpha |r(u, i)|) (p(u, i) - x(u) y(i))^2
            + regParam (sum of n(u) |x(u)|^2 + sum of n(i) |y(i)|^2)

    p is 1 where the rating r is above 0, and else 0. Spark weights the penalty of each user and item with n, the
    number of its ratings above 0, as Zhou et al. (2008) do for explicit ratings.

    The Java machine starts when the first recommender is made, so that its start does not count as fitting.
    """

    def __init__(self, **settings: ParameterValue) -> None:
        self._settings = settings
        session()

    def fit(self, train: Interactions, *, seed: int) -> None:
        if not len(train):
            raise PluginError("Spark's ALS cannot learn from a training part without rows")
        from pyspark.ml.recommendation import ALS

        learner = ALS(userCol="user", itemCol="item", ratingCol="rating", seed=seed, **self._settings)
        model = learner.fit(_frame(train))
        self.factors_ = Factors(
            users=collected(model.userFactors, train.n_users), items=collected(model.itemFactors, train.n_items)
        )

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self.factors_.block(queries.users, items)

    def state(self) -> dict[str, FloatArray]:
        factors = self.factors_
        return {"user_factors": factors.users.astype(np.float64), "item_factors": factors.items.astype(np.float64)}


class ExplicitALS(ImplicitALS):
    """Factors x and y that minimise, over the training rows alone (Zhou et al. 2008)::

        sum of (r(u, i) - x(u) y(i))^2 + regParam (sum of n(u) |x(u)|^2 + sum of n(i) |y(i)|^2)

    with n the number of ratings of a user or item. There are neither biases nor a mean: the product is the rating.
    """

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        return self.factors_.pairs(queries.users, items)


def _frame(train: Interactions) -> DataFrame:
    """The rows as Spark takes them, in canonical order: sums depend on the order of rows in their last bits."""
    import pyarrow as pa

    rows = train.canonical()
    columns = {"user": rows.users, "item": rows.items, "rating": rows.ratings.astype(np.float32)}
    return session().createDataFrame(pa.table(columns))


def make_als(**settings: ParameterValue) -> Recommender:
    """Spark's ALS by its own parameters; ratings are predicted unless the feedback is implicit."""
    return ImplicitALS(**settings) if settings["implicitPrefs"] else ExplicitALS(**settings)


OWN = {
    parameter.name: parameter
    for parameter in (
        Parameter("rank", 10, "how many latent factors"),
        Parameter("maxIter", 10, "how often both sides are solved for"),
        Parameter("regParam", 0.1, "weight of squared factors, times the number of ratings of the user or item"),
        Parameter("implicitPrefs", False, "whether a rating is a confidence in a preference, not the rating itself"),
        Parameter("alpha", 1.0, "of implicit feedback: how much more a rating counts than none, 1 + alpha * rating"),
        Parameter("nonnegative", False, "whether factors must not be negative"),
        Parameter("numUserBlocks", 10, "blocks of users, which decide where each of them starts"),
        Parameter("numItemBlocks", 10, "blocks of items, which decide where each of them starts"),
        Parameter("blockSize", 4096, "how many vectors Spark multiplies at a time"),
        Parameter("checkpointInterval", 10, "after how many solutions the way to them is forgotten (-1: never)"),
    )
}
RENAMED = {"factors": "rank", "epochs": "maxIter", "regularisation": "regParam", "alpha": "alpha"}


def make_implicit_als(**parameters: ParameterValue) -> Recommender:
    """Implicit ALS by canonical parameters, and other ones of Spark."""
    return ImplicitALS(implicitPrefs=True, **renamed(RENAMED, parameters))


ALGORITHMS = (
    Algorithm(
        "implicit-als",
        "weighted factorisation of implicit feedback; a rating is its weight",
        make_implicit_als,
        parameters=canonical_parameters(
            [parameter for name, parameter in OWN.items() if name != "implicitPrefs"], RENAMED
        ),
        own="pyspark.ml.recommendation.ALS(implicitPrefs=True)",
        mapping=RENAMED | {"regularisation": "regParam, times the number of ratings of the user or item"},
        cite=CITE_IMPLICIT,
    ),
    Algorithm(
        "ALS",
        "factorisation of ratings without biases, or (implicitPrefs) of implicit feedback",
        make_als,
        parameters=tuple(OWN.values()),
        own="pyspark.ml.recommendation.ALS",
        predicts=True,
        ratings_with={"implicitPrefs": (False,)},
        cite=CITE_EXPLICIT,
    ),
)
