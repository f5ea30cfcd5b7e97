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
from collections.abc import Mapping

from repro.evaluation.metrics._ranges import clipped
from repro.evaluation.metrics._scale import normalised, normalising_variants, squared_error_unit
from repro.evaluation.metrics.metric import PredictionMetric, Range
from repro.evaluation.metrics.prediction_pairs import Predictions
from repro.evaluation.metrics.rmse import root_mean_squared_error
from repro.evaluation.metrics.tie_order import UNAFFECTED
from repro.protocol import Protocol, Value


def normalised_root_mean_squared_error(predictions: Predictions, variants: Mapping[str, Value]) -> float:
    """The root of the mean of the squared errors, in the unit asked for."""
    return normalised(root_mean_squared_error(predictions, variants), squared_error_unit(predictions.scale, variants))


def _range(k: int | None, variants: Mapping[str, Value], protocol: Protocol) -> Range:
    """At most the range of the scale, where predictions are clipped to it: below sqrt(6) times the error of chance."""
    if not clipped(protocol):
        return 0.0, math.inf
    return 0.0, 1.0 if variants["by"] == "range" else math.sqrt(6)


METRIC = PredictionMetric(
    name="nrmse",
    title="Normalised root mean squared error",
    compute=normalised_root_mean_squared_error,
    variants=normalising_variants("nrmse"),
    shared=("predict.average",),
    better="lower",
    range=_range,
    tie_order=UNAFFECTED,
    cite="Shani & Gunawardana 2011",
)
