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
from repro.runs.folder import parquet_bytes
from repro.study.fold_data import fold_data
from repro.study.plan import Cell, Plan

# Receives how many steps of a cell are done, and how many there are.
CellProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class CellOutput:
    """The output of a cell.

    values     for each measure, its value and the number of users in it
    intervals  for each measure, the lowest and highest value over all orders of tied items; None where unknown
    facts      counts from which :mod:`repro.evaluation.suspicion` makes findings
    tables     Parquet files as bytes: only the process that owns the run folder writes to it
    notes      what the algorithm reports about its scores
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
    plan: Plan, cell: Cell, options: ExecutionOptions = DEFAULT_OPTIONS, progress: CellProgress | None = None
) -> CellOutput:
    """Fit the algorithm of a cell and measure it."""
    study = plan.study
    with threadpool_limits(1):  # how a BLAS divides its work among threads changes the last bits
        data = fold_data(plan, cell.fold)
        recommender = cell.entry.recommender(data.whole, options.limit)
        began = time.perf_counter()
        recommender.fit(data.fitted, seed=cell.seed, fold=cell.fold.name)
        seconds = {"fit": time.perf_counter() - began}
        evaluation = Evaluation(data, study.measures, study.protocol, study.seed, plan.scale, options)
        measured = evaluation.measure(recommender, progress)
        ratings_vary = not len(data.fitted) or bool(np.ptp(data.fitted.ratings))
        return CellOutput(
            [measured.value(measure) for measure in study.measures],
            [measured.interval(measure) for measure in study.measures],
            replace(measured.facts, folds=1, ratings_vary=ratings_vary),
            measured.impacts,
            {name: parquet_bytes(table) for name, table in measured.tables.items()},
            seconds | measured.seconds,
            measured.digests,
            recommender.notes(),
        )
