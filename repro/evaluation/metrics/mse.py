"""Mean squared error of predicted ratings.

    MSE = mean of (prediction - rating)^2

It is the MSE of all test pairs, or by ``average`` (``predict.average``) the mean of those of users (uMSE) or items
(iMSE). It has no lists, so none is empty or short, and relevance and ties have no effect; ``predict.missing`` decides
about pairs without a prediction. Without any pair it is not a number.

Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 2004.
"""

from __future__ import annotations

import numpy as np

from repro.evaluation.metrics.metric import Predictions, Variants
from repro.evaluation.metrics.shared.errors import error_metric
from repro.evaluation.metrics.shared.exact import exact_mean


def mean_squared_error(predictions: Predictions, variants: Variants) -> float:
    """The mean of the squared errors."""
    return exact_mean(np.square(predictions.errors))


METRIC = error_metric(
    "mse",
    "Mean squared error",
    mean_squared_error,
    task="predict ratings",
    shows="squared errors, so that one large error costs more than several small ones; in squared points of the scale",
)
