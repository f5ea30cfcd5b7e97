"""Predicted ratings: what counts as a prediction, and the pairs over which a metric is averaged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.data.rating_means import RatingMeans
from repro.errors import ProtocolError
from repro.evaluation.metrics.averaging import Averaged
from repro.evaluation.metrics.measure import Measure
from repro.evaluation.metrics.metric import Mask, PredictionMetric, Predictions
from repro.evaluation.metrics.shared.declarations import Range
from repro.evaluation.metrics.shared.exact import exact_mean
from repro.plugin import FALLBACK, UNSCORED, Scores
from repro.protocol import Protocol


@dataclass(frozen=True, eq=False)
class TrainRatings:
    """Statistics of the training ratings that ``predict.*`` decisions may need.

    means     None if there are no training rows
    scale     the rating scale of the data set
    observed  the range of the training ratings
    """

    means: RatingMeans | None
    scale: Range
    observed: Range

    @classmethod
    def of(cls, train: Interactions, scale: Range) -> TrainRatings:
        """From the training rows."""
        if not len(train):
            return cls(None, scale, (-math.inf, math.inf))
        return cls(RatingMeans.of(train), scale, (float(train.ratings.min()), float(train.ratings.max())))


def resolve_predictions(
    scores: Scores, truth: FloatArray, users: CodeArray, items: CodeArray, protocol: Protocol, train: TrainRatings
) -> Predictions:
    """The predictions for test pairs under the ``predict.*`` decisions.

    In this order: a missing prediction is replaced (or left out), then all are rounded, then clipped, so that
    no prediction is outside the range.
    """
    missing = np.isnan(scores.values) | (scores.states == UNSCORED)
    fallback = (scores.states == FALLBACK) & ~missing
    own = ~missing & ~fallback
    if protocol["predict.fallback"] == "missing":
        missing |= fallback
    counted = ~missing if protocol["predict.missing"] == "skip" else np.ones(len(truth), dtype=np.bool_)
    filled = np.where(missing, _replacement(missing, users, items, protocol, train), scores.values)[counted]
    rounded = _round(filled, protocol)
    clipped = _clip(rounded, protocol, train)
    values = np.full(len(truth), math.nan)
    values[counted] = clipped
    touched = {
        "predict.missing": (missing, "without a prediction"),
        "predict.fallback": (fallback, "with a prediction that the framework made up"),
        "predict.round": (rounded != filled, "changed"),
        "predict.clip": (clipped != rounded, "changed"),
    }
    impacts = tuple(
        Impact(decision, protocol[decision], int(pairs.sum()), len(pairs), "test pairs", note)
        for decision, (pairs, note) in touched.items()
    )
    return Predictions(users, items, truth, values, own, train.scale, impacts, spoils(protocol))


def spoils(protocol: Protocol) -> bool:
    """Whether a pair without a prediction makes every error that includes it not a number."""
    return protocol["predict.missing"] == "nan"


def average_predictions(measure: Measure, predictions: Predictions) -> Averaged:
    """A metric of all pairs or, by its variant ``average``, the mean over users or items; and the value of each user.

    Users (items) for whose pairs the metric is undefined are left out.
    """
    users, user_values = _by_group(measure, predictions, predictions.users)
    match measure.variants.get("average"):
        case "users":
            value = exact_mean(user_values)
        case "items":
            value = exact_mean(_by_group(measure, predictions, predictions.items)[1])
        case _:
            assert isinstance(measure.metric, PredictionMetric), measure.name
            value = float(measure.metric.compute(predictions, measure.variants))
    return Averaged(value, len(users), users, user_values, predictions.impacts)


def _replacement(
    missing: Mask, users: CodeArray, items: CodeArray, protocol: Protocol, train: TrainRatings
) -> FloatArray | float:
    """The values that replace missing predictions."""
    rule = protocol.text("predict.missing")
    if rule.endswith("-mean") and train.means is None:
        raise ProtocolError(f'predict.missing = "{rule}" needs training rows, and there are none')
    match rule, train.means:
        case "constant", _:
            return protocol.number("predict.constant")
        case "global-mean", RatingMeans(overall=overall):
            return overall
        case "user-mean", RatingMeans(users=means):
            return means[users]
        case "item-mean", RatingMeans(items=means):
            return means[items]
        case "fail", _ if missing.any():
            raise ProtocolError(
                f'predict.missing = "fail": {int(missing.sum()):,} of {len(missing):,} test pairs have no '
                "prediction; choose another rule for them, or an algorithm that predicts all pairs"
            )
    return math.nan


def _round(values: FloatArray, protocol: Protocol) -> FloatArray:
    """To the nearest step, halves up."""
    if protocol["predict.round"] == "none":
        return values
    step = protocol.number("predict.round")
    return np.floor(values / step + 0.5) * step


def _clip(values: FloatArray, protocol: Protocol, train: TrainRatings) -> FloatArray:
    bounds = {"scale": train.scale, "train": train.observed}.get(protocol.text("predict.clip"))
    return values if bounds is None else np.clip(values, *bounds)


def _by_group(measure: Measure, predictions: Predictions, codes: CodeArray) -> tuple[CodeArray, FloatArray]:
    """The codes for whose pairs the metric is defined, ascending, and its value for each of them."""
    assert isinstance(measure.metric, PredictionMetric), measure.name
    order = np.argsort(codes, kind="stable")
    together = predictions.select(order)
    present, starts = np.unique(codes[order], return_index=True)
    groups = (together.select(slice(start, end)) for start, end in pairwise([*starts, len(order)]))
    values = np.array([measure.metric.compute(group, measure.variants) for group in groups], dtype=np.float64)
    if predictions.spoils:
        return present, values
    defined = ~np.isnan(values)
    return present[defined], values[defined]
