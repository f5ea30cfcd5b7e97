"""Mean absolute error of predicted ratings.

    MAE = mean of |prediction - rating|

``predict.average`` says over what: all test pairs, or the MAE of each user or item, averaged. There are no lists
here, so none can be empty or short, and relevance plays no part; pairs without a prediction are as
``predict.missing`` says. Without any pair it is not a number.

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


def mean_absolute_error(errors: FloatArray, variants: Mapping[str, Value]) -> float:
    """The mean of the absolute errors."""
    return exact_sum(np.abs(errors)) / len(errors) if len(errors) else math.nan


METRIC = Metric(
    name="mae",
    title="Mean absolute error",
    kind="prediction",
    compute=mean_absolute_error,
    cite="Herlocker et al. 2004",
)
