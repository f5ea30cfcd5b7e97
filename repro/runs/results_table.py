"""The table of results of a run: one row for each algorithm, fold and metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from repro.runs.fold_pooling import FinishedCells, pooled_interval, pooled_value
from repro.runs.measure_names import metric_names

if TYPE_CHECKING:
    from repro.evaluation.metrics import Measure
    from repro.protocol import Protocol
    from repro.runs.journal import events

Interval = tuple[float, float]

ALL_FOLDS = "all"
SCHEMA = pa.schema(
    [
        ("algorithm", pa.string()),
        ("framework", pa.string()),
        ("fold", pa.string()),
        ("metric", pa.string()),
        ("measure", pa.string()),
        ("cutoff", pa.int32()),
        ("value", pa.float64()),
        ("users", pa.int64()),
        ("lowest", pa.float64()),
        ("highest", pa.float64()),
    ]
)


def results_table(
    finished: FinishedCells, measures: Sequence[Measure], protocol: Protocol, scale: tuple[float, float]
) -> pa.Table:
    """The table in the order of the study: the folds of an algorithm, then all folds together.

    The value of all folds together is the mean of the folds or, where the protocol pools them, the value over the
    users of all folds. The column ``users`` counts a user once in each average: in each fold of a mean, and once where
    folds are pooled. ``scale`` is the rating scale.
    """
    names = metric_names(measures)
    rows = []
    for label, framework in finished.frameworks.items():
        cells, tables = finished.of(label), finished.tables(label)
        for number, measure in enumerate(measures):
            entries = [cell.values[number] for cell in cells.values()]
            values = [math.nan if entry.value is None else entry.value for entry in entries]
            users = [entry.users for entry in entries]
            intervals = [_interval(entry) for entry in entries]
            numbers = list(zip(cells, values, users, intervals, strict=True))
            if len(cells) == len(finished.folds):
                pooled, interval = None, None
                if protocol["average.folds"] == "pooled":
                    pooled = pooled_value(measure, tables, protocol, scale)
                    interval = pooled_interval(measure, tables, protocol)
                together = pooled or (math.fsum(values) / max(len(values), 1), sum(users))
                numbers.append((ALL_FOLDS, *together, interval or _mean_interval(intervals)))
            measured = (names[measure.full_name], measure.full_name, measure.cutoff)
            rows += [
                (label, framework, fold, *measured, value, count, *(interval or (None, None)))
                for fold, value, count, interval in numbers
            ]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(SCHEMA)
    return pa.table([list(column) for column in columns], schema=SCHEMA)


def _interval(entry: events.ValueEntry) -> Interval | None:
    return None if entry.lowest is None or entry.highest is None else (entry.lowest, entry.highest)


def _mean_interval(folds: Sequence[Interval | None]) -> Interval | None:
    """The mean of the lowest values of the folds, and of the highest; None where a fold has none."""
    known = [interval for interval in folds if interval is not None]
    if not known or len(known) < len(folds):
        return None
    return math.fsum(low for low, _ in known) / len(known), math.fsum(high for _, high in known) / len(known)
