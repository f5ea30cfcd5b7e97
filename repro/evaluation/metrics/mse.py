"""Mean squared error of predicted ratings.

    MSE = mean of (prediction - rating)^2

``average`` (``predict.average``) says over what: all test pairs, or the MSE of each user (uMSE) or item (iMSE),
averaged. There are no lists here, so none can be empty or short, and relevance and ties play no part; pairs
without a prediction are as ``predict.missing`` says. Without any pair it is not a number.

Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 2004.
"""

from __future__ import annotations

import numpy as np

from repro.evaluation.metrics._declarations import Variants
from repro.evaluation.metrics._errors import error_metric
from repro.evaluation.metrics._exact import exact_mean
from repro.evaluation.metrics.metric import Predictions


def mean_squared_error(predictions: Predictions, variants: Variants) -> float:
    """The mean of the squared errors."""
    return exact_mean(np.square(predictions.errors))


METRIC = error_metric(
    "mse",
    "Mean squared error",
    mean_squared_error,
    aliases={"umse": {"average": "users"}, "imse": {"average": "items"}},
)
