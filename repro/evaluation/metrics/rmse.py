"""Root of the mean squared error of predicted ratings.

    RMSE = sqrt(mean of (prediction - rating)^2)

It is the RMSE of all test pairs, or by ``average`` (``predict.average``) the mean of those of users (uRMSE) or items
(iRMSE). Each has its own root. It has no lists, so none is empty or short, and relevance and ties have no effect;
``predict.missing`` decides about pairs without a prediction. Without any pair it is not a number.

Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 2004.
"""

from __future__ import annotations

import math

from repro.evaluation.metrics.metric import Predictions, Variants
from repro.evaluation.metrics.mse import mean_squared_error
from repro.evaluation.metrics.shared.errors import error_metric


def root_mean_squared_error(predictions: Predictions, variants: Variants) -> float:
    """The root of the mean of the squared errors."""
    return math.sqrt(mean_squared_error(predictions, variants))


METRIC = error_metric(
    "rmse",
    "Root mean squared error",
    root_mean_squared_error,
    task="predict ratings",
    shows="the size of errors, where large ones count most; it says little about which items come first",
)
