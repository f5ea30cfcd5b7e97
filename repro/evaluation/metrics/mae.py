"""Mean absolute error of predicted ratings.

    MAE = mean of |prediction - rating|

``average`` (``predict.average``) says over what: all test pairs, or the MAE of each user (uMAE) or item (iMAE),
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


def mean_absolute_error(predictions: Predictions, variants: Variants) -> float:
    """The mean of the absolute errors."""
    return exact_mean(np.abs(predictions.errors))


METRIC = error_metric(
    "mae",
    "Mean absolute error",
    mean_absolute_error,
    aliases={"umae": {"average": "users"}, "imae": {"average": "items"}},
)
