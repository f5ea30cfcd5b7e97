"""One cell: fit one algorithm on one fold, and evaluate it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from threadpoolctl import threadpool_limits

from repro.data import Impact
from repro.evaluation.blocks import DEFAULT_OPTIONS, ExecutionOptions
from repro.evaluation.evaluation import Evaluation
from repro.evaluation.suspicion import Facts
from repro.plugin import plugins
from repro.runs.folder import parquet_bytes
from repro.study.fold_data import fold_data
from repro.study.plan import Cell, Plan

Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class CellOutput:
    """What a cell gives back: a value and the number of users behind it for each measure, and what to store.

    ``intervals`` has, for each measure, the lowest and highest value that any order of tied items gives, or None where
    they are not known; ``facts`` are counts from which :mod:`repro.evaluation.suspicion` finds what is suspicious.
    ``tables`` are Parquet files as bytes: only the process that owns the run folder writes to it. ``notes`` are
    what the algorithm reports about its scores.
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
    data = fold_data(plan, cell.fold)
    recommender = plugins().recommender(cell.entry.use, dict(cell.entry.parameters), options.limit)
    began = time.perf_counter()
    recommender.fit(data.fitted, seed=cell.seed, fold=cell.fold.name)
    seconds = {"fit": time.perf_counter() - began}
    evaluation = Evaluation(data, study.measures, study.protocol, study.seed, plan.scale, options)
    measured = evaluation.measure(recommender, tell)
    return CellOutput(
        [measured.value(measure) for measure in study.measures],
        [measured.interval(measure) for measure in study.measures],
        replace(
            measured.facts,
            folds=1,
            ratings_vary=bool(np.ptp(data.fitted.ratings)) if len(data.fitted) else True,
        ),
        measured.impacts,
        {name: parquet_bytes(table) for name, table in measured.tables.items()},
        seconds | measured.seconds,
        measured.digests,
        recommender.notes(),
    )
