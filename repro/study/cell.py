"""One cell: fit one algorithm on one fold, rank and predict, and measure."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from threadpoolctl import threadpool_limits

from repro.data import Impact
from repro.evaluation.execution import DEFAULT_OPTIONS, ExecutionOptions
from repro.evaluation.fold import FoldData
from repro.evaluation.measure_lists import measure_lists
from repro.evaluation.measure_predictions import measure_predictions
from repro.evaluation.measured import Measured
from repro.evaluation.metrics import Measure, simple_measures
from repro.evaluation.suspicion import Facts
from repro.plugin import Guarded, plugins
from repro.protocol import Protocol
from repro.study.fold_data import fold_data
from repro.study.folder import parquet_bytes
from repro.study.plan import Cell, Plan

Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class CellOutput:
    """What a cell gives back: a value and the number of users behind it for each measure, and what to store.

    ``intervals`` has, for each measure, the lowest and highest value that any order of tied items gives, or None where
    they are not known; ``facts`` are counts from which :mod:`repro.evaluation.suspicion` finds what is suspicious.
    ``tables`` are Parquet files as bytes: only the process that owns the run folder writes to it. ``notes`` are what
    the algorithm has to say about how it came by its scores.
    """

    values: list[tuple[float, int]]
    intervals: list[tuple[float, float] | None]
    facts: Facts
    impacts: list[Impact] = field(default_factory=list)
    tables: dict[str, bytes] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


def run_cell(
    plan: Plan, cell: Cell, options: ExecutionOptions = DEFAULT_OPTIONS, tell: Tell | None = None
) -> CellOutput:
    """Fit and measure.

    Linear algebra has one thread: how a BLAS shares out its work changes the last bits.
    """
    with threadpool_limits(1):
        return _run(plan, cell, options, tell)


def _run(plan: Plan, cell: Cell, options: ExecutionOptions, tell: Tell | None) -> CellOutput:
    study = plan.study
    parts = fold_data(plan, cell.fold)
    recommender = plugins().recommender(cell.entry.use, dict(cell.entry.parameters), options.limit)
    began = time.perf_counter()
    recommender.fit(parts.fitted, seed=cell.seed, fold=cell.fold.name)
    seconds = {"fit": time.perf_counter() - began}
    measured = measure_parts(recommender, parts, study.measures, study.protocol, study.seed, plan.scale, options, tell)
    return CellOutput(
        joined_values(study.measures, measured),
        joined_intervals(study.measures, measured),
        replace(
            sum((part.facts for part in measured), Facts()),
            folds=1,
            ratings_vary=bool(np.ptp(parts.fitted.ratings)) if len(parts.fitted) else True,
        ),
        [impact for part in measured for impact in part.impacts],
        {name: parquet_bytes(table) for part in measured for name, table in part.tables.items()},
        seconds | {name: value for part in measured for name, value in part.seconds.items()},
        {name: value for part in measured for name, value in part.digests.items()},
        recommender.notes(),
    )


def measure_parts(
    recommender: Guarded,
    parts: FoldData,
    measures: Sequence[Measure],
    protocol: Protocol,
    seed: int,
    scale: tuple[float, float],
    options: ExecutionOptions = DEFAULT_OPTIONS,
    tell: Tell | None = None,
) -> list[Measured]:
    """What a fitted algorithm is worth on the test rows of ``parts``: its lists, and the ratings it predicts."""
    measured = []
    simple = simple_measures(measures)
    if lists := _of_kind(simple, "ranking", "collection"):
        measured.append(measure_lists(recommender, parts, lists, protocol, seed, options, tell))
    if predicted := _of_kind(simple, "prediction"):
        measured.append(measure_predictions(recommender, parts, predicted, protocol, scale))
    return measured


def joined_values(measures: Sequence[Measure], measured: Sequence[Measured]) -> list[tuple[float, int]]:
    """The value of each measure, and the users behind it."""
    values = {name: value for part in measured for name, value in part.values.items()}
    return [measure.joined(values) for measure in measures]


def joined_intervals(measures: Sequence[Measure], measured: Sequence[Measured]) -> list[tuple[float, float] | None]:
    """The interval of each measure over the orders of tied items; None where it is not known."""
    known = {name: interval for part in measured for name, interval in part.intervals.items()}
    found: list[tuple[float, float] | None] = []
    for measure in measures:
        if not all(part.full_name in known for part in simple_measures([measure])):
            found.append(None)
            continue
        low, high = (measure.joined({name: (ends[side], 0) for name, ends in known.items()})[0] for side in (0, 1))
        found.append((low, high))
    return found


def _of_kind(measures: Sequence[Measure], *kinds: str) -> list[Measure]:
    return [measure for measure in measures if measure.metric.kind in kinds]
