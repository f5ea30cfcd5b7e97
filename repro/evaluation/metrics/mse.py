"""Mean squared error of predicted ratings.

    MSE = mean of (prediction - rating)^2

``average`` (``predict.average``) says over what: all test pairs, or the MSE of each user (uMSE) or item (iMSE),
averaged. There are no lists here, so none can be empty or short, and relevance and ties play no part; pairs
without a prediction are as ``predict.missing`` says. Without any pair it is not a number.

Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 2004.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repro.evaluation.metrics._ranges import NOT_NEGATIVE
from repro.evaluation.metrics.averaging import exact_mean
from repro.evaluation.metrics.metric import PredictionMetric
from repro.evaluation.metrics.prediction_pairs import Predictions
from repro.evaluation.metrics.tie_order import UNAFFECTED
from repro.protocol import Value


def mean_squared_error(predictions: Predictions, variants: Mapping[str, Value]) -> float:
    """The mean of the squared errors."""
    return exact_mean(np.square(predictions.errors))


METRIC = PredictionMetric(
    name="mse",
    title="Mean squared error",
    compute=mean_squared_error,
    shared=("predict.average",),
    better="lower",
    range=NOT_NEGATIVE,
    tie_order=UNAFFECTED,
    aliases={"umse": {"average": "users"}, "imse": {"average": "items"}},
    cite="Herlocker et al. 2004",
)
