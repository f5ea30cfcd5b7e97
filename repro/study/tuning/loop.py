"""Tuning one cell: its algorithm is fitted with one set of parameters after the other, and the best are chosen.

A trial fits on the training part of the fold and is measured on the validation part, under the same decisions as the
test. The test part is not there: neither its rows, nor users and items that only it has, nor what is drawn for it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa
from threadpoolctl import threadpool_limits

from repro.errors import ReproError, StudyError
from repro.evaluation.blocks import DEFAULT_OPTIONS, ExecutionOptions
from repro.evaluation.evaluation import Evaluation
from repro.evaluation.fold import FoldData
from repro.plugin import ParameterValue, plugins
from repro.rng import stream
from repro.study.cell import Tell
from repro.study.fold_data import validation_data
from repro.study.plan import Cell, Plan
from repro.study.tuning.search import SearchName, make_search

State = Literal["complete", "failed", "no-value"]


@dataclass(frozen=True)
class Trial:
    """Parameters that were tried, and what they were worth; the value is not a number where there is none."""

    number: int
    parameters: Mapping[str, ParameterValue]
    state: State
    value: float
    users: int = 0
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class Tuning:
    """All trials of a cell, and the best of them: the first where several are; None where none has a value."""

    search: SearchName
    seed: int
    trials: tuple[Trial, ...]
    best: Trial | None
    seconds: float

    @property
    def chosen(self) -> dict[str, ParameterValue]:
        """The parameters of the best trial; an error where there is none."""
        if self.best is None:
            first = self.trials[0].error or "the metric has nothing to say about this algorithm"
            raise StudyError(f"none of the {len(self.trials)} trials of tuning gave a value; the first: {first}")
        return dict(self.best.parameters)

    def table(self) -> pa.Table:
        """One row for each trial; without the times, which are never twice the same."""
        columns = {
            "trial": pa.array([trial.number for trial in self.trials], pa.int32()),
            "state": pa.array([trial.state for trial in self.trials], pa.string()),
            "value": pa.array([trial.value for trial in self.trials], pa.float64()),
            "users": pa.array([trial.users for trial in self.trials], pa.int64()),
            "error": pa.array([trial.error for trial in self.trials], pa.string()),
        }
        for name in self.trials[0].parameters:
            columns[f"parameters.{name}"] = pa.array([trial.parameters[name] for trial in self.trials])
        return pa.table(columns)


def tune_cell(plan: Plan, cell: Cell, options: ExecutionOptions = DEFAULT_OPTIONS, tell: Tell | None = None) -> Tuning:
    """Try parameters until the budget is spent.

    ``tell`` is called with the number of trials done and of all trials. A trial that fails has no value, and the search
    goes on. Parameters proposed a second time have the value of the first.
    """
    tune = plan.study.tune
    assert tune is not None
    seed = search_seed(plan.study.seed, cell.entry.use, cell.fold.name)
    search = make_search(cell.entry.space, tune.trials, tune.measure.metric.better, seed)
    trials: list[Trial] = []
    known: dict[tuple[ParameterValue, ...], Trial] = {}
    began = time.perf_counter()
    with threadpool_limits(1):
        parts = validation_data(plan, cell.fold)
        while len(trials) < tune.trials and (suggestion := search.ask()) is not None:
            again = known.get(tuple(suggestion.values()))
            if again is not None:
                trial = replace(again, number=len(trials) + 1, seconds=0.0)
            else:
                tried = cell.with_parameters(suggestion)
                trial = _try(plan, tried, parts, suggestion, len(trials) + 1, options)
                known[tuple(suggestion.values())] = trial
            search.tell(trial.value if trial.state == "complete" else None)
            trials.append(trial)
            if tell:
                tell(len(trials), tune.trials)
            if tune.seconds is not None and time.perf_counter() - began >= tune.seconds:
                break
    best = best_trial(trials, tune.measure.metric.better)
    return Tuning(search.name, seed, tuple(trials), best, time.perf_counter() - began)


def best_trial(trials: Sequence[Trial], better: str) -> Trial | None:
    """The trial with the best value; of equal ones the first."""
    complete = [trial for trial in trials if trial.state == "complete"]
    sign = -1.0 if better == "lower" else 1.0
    return max(complete, key=lambda trial: sign * trial.value, default=None)


def search_seed(seed: int, use: str, fold: str) -> int:
    """The seed of the search for a cell: 31 bits, as samplers take them."""
    return int(stream(seed, "tune", "search", use, fold)) & 0x7FFFFFFF


def _try(
    plan: Plan,
    cell: Cell,
    parts: FoldData,
    suggestion: Mapping[str, ParameterValue],
    number: int,
    options: ExecutionOptions,
) -> Trial:
    """Fit with these parameters and measure on the validation part."""
    began = time.perf_counter()
    try:
        value, users = _measure(plan, cell, parts, options)
    except ReproError as error:
        return Trial(number, suggestion, "failed", math.nan, 0, time.perf_counter() - began, str(error))
    state: State = "complete" if math.isfinite(value) else "no-value"
    return Trial(number, suggestion, state, value, users, time.perf_counter() - began)


def _measure(plan: Plan, cell: Cell, parts: FoldData, options: ExecutionOptions) -> tuple[float, int]:
    tune, protocol = plan.study.tune, plan.study.protocol
    assert tune is not None
    recommender = plugins().recommender(cell.entry.use, dict(cell.entry.parameters), options.limit)
    recommender.fit(parts.train, seed=cell.seed, fold=cell.fold.name)
    draws = int(stream(plan.study.seed, "tune", "draws"))  # negatives and ties are not those of the test
    scale = plan.scale
    if protocol["data.scale"] != "stated":
        scale = (float(parts.whole.ratings.min()), float(parts.whole.ratings.max()))
    options = replace(options, keep_scores=False)  # those of a trial are nobody's
    return Evaluation(parts, [tune.measure], protocol, draws, scale, options).measure(recommender).value(tune.measure)
