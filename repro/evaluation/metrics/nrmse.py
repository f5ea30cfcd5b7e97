"""Normalised root of the mean squared error: the RMSE in a unit that does not depend on the rating scale.

    NRMSE = RMSE / (highest - lowest rating)        or        NRMSE = RMSE / sqrt(E(X - Y)^2)

``by`` says in which unit. ``range``: the width of the scale. ``uniform``: the expected error of chance, where
rating X and prediction Y are independent and each of the n ratings of the scale, ``step`` apart, is equally
likely: sqrt(E(X - Y)^2) = step sqrt((n^2 - 1) / 6), which is 2 for the ratings 1 to 5; 1 is then the error of
chance. ``continuous``: the same with all numbers within the scale equally likely, range / sqrt(6). The scale is
that of ``data.scale``.

``average`` (``predict.average``) says over what the RMSE is: all test pairs, or each user or item, averaged.
There are no lists here, so none can be empty or short, and relevance and ties play no part; pairs without a
prediction are as ``predict.missing`` says. Without any pair, or with a scale of one rating, it is not a number.

Shani & Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook 2011; the unit of chance
follows Marlin's for the MAE (Collaborative filtering: a machine learning perspective, 2004).
"""

from __future__ import annotations

import math

from repro.evaluation.metrics._declarations import Range, Variants
from repro.evaluation.metrics._errors import error_metric, normalised, normalised_range, normalising_variants
from repro.evaluation.metrics.metric import Predictions
from repro.evaluation.metrics.rmse import root_mean_squared_error
from repro.protocol import Protocol


def normalised_root_mean_squared_error(predictions: Predictions, variants: Variants) -> float:
    """The root of the mean of the squared errors in units."""
    error = root_mean_squared_error(predictions, variants)
    return normalised(error, predictions.scale, variants, _of_chance, math.sqrt(6))


def _of_chance(n: int, step: float) -> float:
    return step * math.sqrt((n * n - 1) / 6)


def _range(k: int | None, variants: Variants, protocol: Protocol) -> Range:
    return normalised_range(variants, protocol, math.sqrt(6))


METRIC = error_metric(
    "nrmse",
    "Normalised root mean squared error",
    normalised_root_mean_squared_error,
    variants=normalising_variants("nrmse"),
    range=_range,
    cite="Shani & Gunawardana 2011",
)
