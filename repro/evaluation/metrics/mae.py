"""Mean absolute error of predicted ratings.

    MAE = mean of |prediction - rating|

It is the MAE of all test pairs, or by ``average`` (``predict.average``) the mean of those of users (uMAE) or items
(iMAE). It has no lists, so none is empty or short, and relevance and ties have no effect; ``predict.missing`` decides
about pairs without a prediction. Without any pair it is not a number.

Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 2004.
"""

from __future__ import annotations

import numpy as np

from repro.evaluation.metrics.metric import Predictions, Variants
from repro.evaluation.metrics.shared.errors import error_metric
from repro.evaluation.metrics.shared.exact import exact_mean


def mean_absolute_error(predictions: Predictions, variants: Variants) -> float:
    """The mean of the absolute errors."""
    return exact_mean(np.abs(predictions.errors))


METRIC = error_metric(
    "mae",
    "Mean absolute error",
    mean_absolute_error,
    task="predict ratings",
    shows="the mean size of an error, where each point counts the same; it says little about which items come first",
)
