"""Mean absolute error of predicted ratings.

    MAE = mean of |prediction - rating|

``average`` (``predict.average``) says over what: all test pairs, or the MAE of each user (uMAE) or item (iMAE),
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


def mean_absolute_error(predictions: Predictions, variants: Mapping[str, Value]) -> float:
    """The mean of the absolute errors."""
    return exact_mean(np.abs(predictions.errors))


METRIC = PredictionMetric(
    name="mae",
    title="Mean absolute error",
    compute=mean_absolute_error,
    shared=("predict.average",),
    better="lower",
    range=NOT_NEGATIVE,
    tie_order=UNAFFECTED,
    aliases={"umae": {"average": "users"}, "imae": {"average": "items"}},
    cite="Herlocker et al. 2004",
)
