"""Metrics: lists and predictions to numbers. One file per metric; a file added here is a metric added."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

from repro.evaluation.metrics._tie_interval import has_tie_interval, with_rows
from repro.evaluation.metrics.averaging import Averaged, ListOwners, average
from repro.evaluation.metrics.background import Background, lacking
from repro.evaluation.metrics.bearing import bearing
from repro.evaluation.metrics.metric import (
    EXTREMES,
    Measure,
    Metric,
    Ratio,
    by_any_name,
    has_exact_extremes,
    named,
    parse_measure,
    simple_measures,
)
from repro.evaluation.metrics.predictions import (
    Predictions,
    TrainRatings,
    average_predictions,
    resolve_predictions,
    spoils,
)
from repro.plugin import plugins
from repro.protocol import Decision

_PLUMBING = {"averaging", "background", "bearing", "metric", "predictions", "tie_order"}


@cache
def metrics() -> dict[str, Metric]:
    """All metrics by name: the ``METRIC`` of each module here (those with a leading underscore aside), and those
    of plug-ins."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    found = [importlib.import_module(f"{__name__}.{name}").METRIC for name in names if name not in _PLUMBING]
    own = {metric.name: metric for metric in found}
    taken = [name for metric in own.values() for name in (metric.name, *metric.aliases)]
    return {**own, **plugins().metrics(taken)}


def metrics_by_any_name() -> dict[str, Metric]:
    """All metrics by their names and by whatever else they are called."""
    return by_any_name(metrics())


def metric_named(name: str) -> Metric:
    """The metric with that name, or called so."""
    return named(name, metrics())


def decisions() -> Iterator[Decision]:
    """The variants of all metrics, for the registry of decisions."""
    return (decision for metric in metrics().values() for decision in metric.variants)


__all__ = [
    "EXTREMES",
    "Averaged",
    "Background",
    "ListOwners",
    "Measure",
    "Metric",
    "Predictions",
    "Ratio",
    "TrainRatings",
    "average",
    "average_predictions",
    "bearing",
    "decisions",
    "has_exact_extremes",
    "has_tie_interval",
    "lacking",
    "metric_named",
    "metrics",
    "metrics_by_any_name",
    "parse_measure",
    "resolve_predictions",
    "simple_measures",
    "spoils",
    "with_rows",
]
