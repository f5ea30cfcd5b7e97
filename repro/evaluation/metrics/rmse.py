"""Root of the mean squared error of predicted ratings.

    RMSE = sqrt(mean of (prediction - rating)^2)

``average`` (``predict.average``) says over what: all test pairs, or the RMSE of each user (uRMSE) or item
(iRMSE), each with its own root, averaged. There are no lists here, so none can be empty or short, and relevance
and ties play no part; pairs without a prediction are as ``predict.missing`` says. Without any pair it is not a
number.

Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 2004.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from repro.evaluation.metrics._ranges import NOT_NEGATIVE
from repro.evaluation.metrics.metric import PredictionMetric
from repro.evaluation.metrics.mse import mean_squared_error
from repro.evaluation.metrics.prediction_pairs import Predictions
from repro.evaluation.metrics.tie_order import UNAFFECTED
from repro.protocol import Value


def root_mean_squared_error(predictions: Predictions, variants: Mapping[str, Value]) -> float:
    """The root of the mean of the squared errors."""
    return math.sqrt(mean_squared_error(predictions, variants))


METRIC = PredictionMetric(
    name="rmse",
    title="Root mean squared error",
    compute=root_mean_squared_error,
    shared=("predict.average",),
    better="lower",
    range=NOT_NEGATIVE,
    tie_order=UNAFFECTED,
    aliases={"urmse": {"average": "users"}, "irmse": {"average": "items"}},
    cite="Herlocker et al. 2004",
)
