"""Metrics: lists and predictions to numbers. One file per metric; a file added here is a metric added."""

from repro.evaluation.metrics.averaging import Averaged, ListOwners, average
from repro.evaluation.metrics.background import Background, lacking
from repro.evaluation.metrics.catalogue import metric_named, metrics, metrics_by_any_name, own_name, reading_notes
from repro.evaluation.metrics.measure import (
    Measure,
    bearing,
    has_exact_extremes,
    has_tie_interval,
    parse_measure,
    simple_measures,
    with_rows,
)
from repro.evaluation.metrics.metric import (
    EXTREMES,
    CollectionMetric,
    Metric,
    PredictionMetric,
    Predictions,
    RankingMetric,
    Ratio,
)
from repro.evaluation.metrics.predictions import TrainRatings, average_predictions, resolve_predictions, spoils
from repro.evaluation.metrics.stated import MetricName, metric_text, metric_texts

__all__ = [
    "EXTREMES",
    "Averaged",
    "Background",
    "CollectionMetric",
    "ListOwners",
    "Measure",
    "Metric",
    "MetricName",
    "PredictionMetric",
    "Predictions",
    "RankingMetric",
    "Ratio",
    "TrainRatings",
    "average",
    "average_predictions",
    "bearing",
    "has_exact_extremes",
    "has_tie_interval",
    "lacking",
    "metric_named",
    "metric_text",
    "metric_texts",
    "metrics",
    "metrics_by_any_name",
    "own_name",
    "parse_measure",
    "reading_notes",
    "resolve_predictions",
    "simple_measures",
    "spoils",
    "with_rows",
]
