"""The table of results of a run: one row for each algorithm, fold and metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from repro.runs.fold_pooling import FinishedCells, pooled_intervals, pooled_values

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


def metric_names(measures: Sequence[Measure]) -> dict[str, str]:
    """The name of each measure in the table, by its full name: the short name, unless two measures share it."""
    short = [measure.name for measure in measures]
    return {m.full_name: m.name if short.count(m.name) == 1 else m.full_name for m in measures}


def results_table(
    finished: FinishedCells, measures: Sequence[Measure], protocol: Protocol, scale: tuple[float, float]
) -> pa.Table:
    """The table in the order of the study: the folds of an algorithm, then all folds together.

    The value of all folds together is the mean of the folds, or, where the protocol pools them, the value over the
    users of all folds. The column ``users`` counts a user once in each average: once in each fold of which the mean is
    taken, and once where folds are pooled. ``scale`` is the rating scale.
    """
    names = metric_names(measures)
    pooled = pooled_values(finished, measures, protocol, scale)
    pooled_extremes = pooled_intervals(finished, measures, protocol)
    rows = []
    for label, framework in finished.frameworks.items():
        done, cells = list(finished.of(label)), list(finished.of(label).values())
        for number, measure in enumerate(measures):
            values = [math.nan if (v := cell.values[number].value) is None else v for cell in cells]
            users = [cell.values[number].users for cell in cells]
            together, counted = pooled.get(
                f"{label}/{measure.full_name}", (math.fsum(values) / max(len(values), 1), sum(users))
            )
            extremes = [_extremes(cell.values[number]) for cell in cells]
            ends = pooled_extremes.get(f"{label}/{measure.full_name}", _mean_extremes(extremes))
            rows += [
                (
                    label,
                    framework,
                    fold,
                    names[measure.full_name],
                    measure.full_name,
                    measure.cutoff,
                    v,
                    n,
                    *(between or (None, None)),
                )
                for fold, v, n, between in [
                    *zip(done, values, users, extremes, strict=True),
                    (ALL_FOLDS, together, counted, ends),
                ]
                if fold != ALL_FOLDS or len(done) == len(finished.folds)
            ]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(SCHEMA)
    return pa.table([list(column) for column in columns], schema=SCHEMA)


def _extremes(entry: events.ValueEntry) -> Interval | None:
    return None if entry.lowest is None or entry.highest is None else (entry.lowest, entry.highest)


def _mean_extremes(folds: Sequence[Interval | None]) -> Interval | None:
    """The mean of the lowest values of the folds, and of the highest; None where a fold has none."""
    known = [interval for interval in folds if interval is not None]
    if not known or len(known) < len(folds):
        return None
    return math.fsum(low for low, _ in known) / len(known), math.fsum(high for _, high in known) / len(known)
