"""R squared of predicted ratings: the share of their variance that the predictions explain.

    R^2 = 1 - sum of (rating - prediction)^2 / sum of (rating - mean of the ratings)^2

The sums are over all test pairs, or by ``average`` (``predict.average``) over those of each user (or item), and then
averaged. The mean is that of the same test pairs, so that a constant prediction gives at most 0; worse ones are below
0. It has no lists, so none is empty or short, and relevance and ties have no effect; ``predict.missing`` decides about
pairs without a prediction. Without any pair, or where all ratings are equal, it is not a number.

Wright, Correlation and causation, Journal of Agricultural Research 1921.
"""

from __future__ import annotations

import math

import numpy as np

from repro.evaluation.metrics.metric import PredictionMetric, Predictions, Variants
from repro.evaluation.metrics.shared.exact import exact_mean
from repro.evaluation.metrics.tie_order import UNAFFECTED


def r_squared(predictions: Predictions, variants: Variants) -> float:
    """One minus the squared errors over the squared deviations of the ratings from their mean."""
    errors = predictions.errors
    counted = ~np.isnan(predictions.values)
    ratings = predictions.ratings[counted]
    if not len(ratings):
        return math.nan
    variance = exact_mean(np.square(ratings - exact_mean(ratings)))
    return 1.0 - exact_mean(np.square(errors)) / variance if variance > 0 else math.nan


METRIC = PredictionMetric(
    "r-squared",
    "R squared",
    r_squared,
    shared=("predict.average",),
    range=(-math.inf, 1.0),
    tie_order=UNAFFECTED,
    aliases={"r2": {}, "rsquared": {}, "coefficient-of-determination": {}},
    task="predict ratings",
    shows="squared errors as a share of those of the mean rating, which compares across data sets",
    cite="Wright 1921",
)
