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

from repro.evaluation.metrics._declarations import Variants
from repro.evaluation.metrics._errors import error_metric
from repro.evaluation.metrics.metric import Predictions
from repro.evaluation.metrics.mse import mean_squared_error


def root_mean_squared_error(predictions: Predictions, variants: Variants) -> float:
    """The root of the mean of the squared errors."""
    return math.sqrt(mean_squared_error(predictions, variants))


METRIC = error_metric(
    "rmse",
    "Root mean squared error",
    root_mean_squared_error,
    aliases={"urmse": {"average": "users"}, "irmse": {"average": "items"}},
)
