"""Root of the mean squared error of predicted ratings.

    RMSE = sqrt(mean of (prediction - rating)^2)

``predict.average`` says over what: all test pairs, or the RMSE of each user or item (each with its own root),
averaged. There are no lists here, so none can be empty or short, and relevance plays no part; pairs without a
prediction are as ``predict.missing`` says. Without any pair it is not a number.

Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 2004.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from repro.data.interactions import FloatArray
from repro.metrics._exact import exact_sum
from repro.metrics.metric import Metric
from repro.protocol import Value


def root_mean_squared_error(errors: FloatArray, variants: Mapping[str, Value]) -> float:
    """The root of the mean of the squared errors."""
    return math.sqrt(exact_sum(np.square(errors)) / len(errors)) if len(errors) else math.nan


METRIC = Metric(
    name="rmse",
    title="Root mean squared error",
    kind="prediction",
    compute=root_mean_squared_error,
    cite="Herlocker et al. 2004",
)
