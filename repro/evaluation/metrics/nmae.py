"""Normalised mean absolute error: the MAE in a unit that does not depend on the rating scale.

    NMAE = MAE / (highest - lowest rating)        or        NMAE = MAE / E|X - Y|

``by`` says in which unit. ``range``: the width of the scale. ``uniform``: the expected error of chance, where
rating X and prediction Y are independent and each of the n ratings of the scale, ``step`` apart, is equally
likely: E|X - Y| = step (n^2 - 1) / 3n, which is 1.6 for the ratings 1 to 5; 1 is then the error of chance.
``continuous``: the same with all numbers within the scale equally likely, E|X - Y| = range / 3. The scale is that
of ``data.scale``.

``average`` (``predict.average``) says over what the MAE is: all test pairs, or each user or item, averaged. There
are no lists here, so none can be empty or short, and relevance and ties play no part; pairs without a prediction
are as ``predict.missing`` says. Without any pair, or with a scale of one rating, it is not a number.

Goldberg et al., Eigentaste: a constant time collaborative filtering algorithm, Information Retrieval 2001;
Marlin, Collaborative filtering: a machine learning perspective, University of Toronto 2004 (uniform).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from repro.evaluation.metrics._ranges import clipped
from repro.evaluation.metrics._scale import absolute_error_unit, normalised, normalising_variants
from repro.evaluation.metrics.mae import mean_absolute_error
from repro.evaluation.metrics.metric import PredictionMetric, Range
from repro.evaluation.metrics.prediction_pairs import Predictions
from repro.evaluation.metrics.tie_order import UNAFFECTED
from repro.protocol import Protocol, Value


def normalised_mean_absolute_error(predictions: Predictions, variants: Mapping[str, Value]) -> float:
    """The mean of the absolute errors, in the unit asked for."""
    return normalised(mean_absolute_error(predictions, variants), absolute_error_unit(predictions.scale, variants))


def _range(k: int | None, variants: Mapping[str, Value], protocol: Protocol) -> Range:
    """At most the range of the scale, where predictions are clipped to it: below 3 times the error of chance."""
    if not clipped(protocol):
        return 0.0, math.inf
    return 0.0, 1.0 if variants["by"] == "range" else 3.0


METRIC = PredictionMetric(
    name="nmae",
    title="Normalised mean absolute error",
    compute=normalised_mean_absolute_error,
    variants=normalising_variants("nmae"),
    shared=("predict.average",),
    better="lower",
    range=_range,
    tie_order=UNAFFECTED,
    cite="Goldberg et al. 2001",
)
