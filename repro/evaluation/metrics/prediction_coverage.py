"""Prediction coverage: the share of the test pairs that the algorithm itself can predict.

    prediction-coverage = test pairs with a prediction of the algorithm's own / test pairs

A missing prediction does not count, nor does a fallback of the framework, whatever ``predict.missing`` and
``predict.fallback`` put in its place. It has no lists, so none is empty or short, and relevance and ties have no
effect. Without any test pair it is not a number.

Herlocker et al., Evaluating collaborative filtering recommender systems, TOIS 2004.
"""

from __future__ import annotations

import math

import numpy as np

from repro.evaluation.metrics.metric import PredictionMetric, Predictions, Variants
from repro.evaluation.metrics.shared.declarations import UNIT
from repro.evaluation.metrics.tie_order import UNAFFECTED


def predicted_share(predictions: Predictions, variants: Variants) -> float:
    """The pairs with a prediction of the algorithm's own as a share of all."""
    return float(np.count_nonzero(predictions.own)) / len(predictions) if len(predictions) else math.nan


METRIC = PredictionMetric(
    "prediction-coverage",
    "Prediction coverage",
    predicted_share,
    range=UNIT,
    tie_order=UNAFFECTED,
    task="beyond accuracy",
    shows="for how many test ratings the algorithm has a prediction of its own; errors are to be read with it",
    cite="Herlocker et al. 2004",
)
