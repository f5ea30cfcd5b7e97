"""Spark: `transform` of all pairs, `recommendForAllUsers` with lists of all items, and the product of the factors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from batch import SEED, Batch, Case, placed
from pyspark.ml.recommendation import ALS

from repro.data.interactions import Interactions
from repro_spark.als import _frame
from repro_spark.factors import collected
from repro_spark.session import session


def model_of(train: Interactions) -> Any:
    settings = {"userCol": "user", "itemCol": "item", "ratingCol": "rating", "implicitPrefs": True}
    return ALS(seed=SEED, maxIter=3, **settings).fit(_frame(train))


def transformed(train: Interactions, recommender: Any) -> Batch:
    model = model_of(train)
    users, items = (side.ravel().astype(np.int32) for side in np.indices((train.n_users, train.n_items)))
    pairs = session().createDataFrame(pa.table({"user": users, "item": items})).cache()
    pairs.count()

    def dense(answer: Any) -> np.ndarray:
        columns = [answer.column(name).to_numpy() for name in ("user", "item", "prediction")]
        return placed((train.n_users, train.n_items), *columns)

    return Batch(lambda: model.transform(pairs).toArrow(), dense)


def product(train: Interactions, recommender: Any) -> Batch:
    model = model_of(train)
    users = collected(model.userFactors, train.n_users).astype(np.float32)
    items = collected(model.itemFactors, train.n_items).astype(np.float32)
    return Batch(lambda: (users @ items.T).astype(np.float64))


CASES = [
    Case("implicit-als", {"epochs": 3}, "transform(all pairs)", transformed),
    Case("implicit-als", {"epochs": 3}, "product of userFactors and itemFactors, in float64", product),
]
