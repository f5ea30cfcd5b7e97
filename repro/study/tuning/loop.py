"""Tune one cell: trials within the budget, each with other parameters; the parameters of the best are chosen.

A trial is fitted on the training part of the fold and measured on the validation part, under the same decisions as the
test. It sees nothing of the test part: no rows, no users and items that only this part has, and none of its draws. Only
with ``split.tuned_on = "test"`` is a trial what the test will be.
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
from repro.plugin import ParameterValue
from repro.rng import stream
from repro.study.cell import CellProgress
from repro.study.fold_data import trial_data
from repro.study.plan import Cell, Plan
from repro.study.tuning.search import SearchName, make_search

State = Literal["complete", "failed", "no-value"]
_TYPES = {"number": pa.int32(), "state": pa.string(), "value": pa.float64(), "users": pa.int64(), "error": pa.string()}


@dataclass(frozen=True)
class Trial:
    """Parameters and their value on the validation part; NaN where there is none."""

    number: int
    parameters: Mapping[str, ParameterValue]
    state: State
    value: float
    users: int = 0
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class Tuning:
    """All trials of a cell, and the best of them: the first of equal ones; None where none has a value."""

    search: SearchName
    seed: int
    trials: tuple[Trial, ...]
    best: Trial | None
    seconds: float

    @property
    def chosen(self) -> dict[str, ParameterValue]:
        """The parameters of the best trial; an error where there is none."""
        if self.best is None:
            first = self.trials[0].error or "the metric is not defined for this algorithm"
            raise StudyError(f"none of the {len(self.trials)} trials of tuning gave a value; the first: {first}")
        return dict(self.best.parameters)

    def table(self) -> pa.Table:
        """One row for each trial, without the seconds, so that the same trials give the same bytes."""
        columns = {
            "trial" if name == "number" else name: pa.array([getattr(trial, name) for trial in self.trials], kind)
            for name, kind in _TYPES.items()
        }
        for name in self.trials[0].parameters:
            columns[f"parameters.{name}"] = pa.array([trial.parameters[name] for trial in self.trials])
        return pa.table(columns)


def tune_cell(
    plan: Plan, cell: Cell, options: ExecutionOptions = DEFAULT_OPTIONS, progress: CellProgress | None = None
) -> Tuning:
    """Run trials until the budget is spent.

    A trial that fails has no value, and the search goes on. Parameters suggested a second time have the value of the
    first.
    """
    tune = plan.study.tune
    assert tune is not None
    seed = search_seed(plan.study.seed, cell.entry.use, cell.fold.name)
    search = make_search(cell.entry.space, tune.trials, tune.measure.metric.better, seed)
    trials: list[Trial] = []
    known: dict[tuple[ParameterValue, ...], Trial] = {}
    began = time.perf_counter()
    with threadpool_limits(1):
        data = trial_data(plan, cell.fold)
        while len(trials) < tune.trials and (suggestion := search.ask()) is not None:
            key = tuple(suggestion.values())
            repeated = key in known
            if not repeated:
                known[key] = _run_trial(plan, cell.with_parameters(suggestion), data, suggestion, options)
            trial = replace(known[key], number=len(trials) + 1)
            trials.append(replace(trial, seconds=0.0) if repeated else trial)
            search.tell(trial.value if trial.state == "complete" else None)
            if progress:
                progress(len(trials), tune.trials)
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


def _run_trial(
    plan: Plan, cell: Cell, data: FoldData, suggestion: Mapping[str, ParameterValue], options: ExecutionOptions
) -> Trial:
    """Fit with the suggested parameters and measure on the validation part."""
    began = time.perf_counter()
    try:
        value, users = _measure(plan, cell, data, options)
    except ReproError as error:
        return Trial(0, suggestion, "failed", math.nan, 0, time.perf_counter() - began, str(error))
    state: State = "complete" if math.isfinite(value) else "no-value"
    return Trial(0, suggestion, state, value, users, time.perf_counter() - began)


def _measure(plan: Plan, cell: Cell, data: FoldData, options: ExecutionOptions) -> tuple[float, int]:
    tune, protocol = plan.study.tune, plan.study.protocol
    assert tune is not None
    recommender = cell.entry.recommender(data.whole, options.limit)
    on_test = protocol["split.tuned_on"] == "test"
    recommender.fit(data.fitted if on_test else data.train, seed=cell.seed, fold=cell.fold.name)
    # Negatives and ties differ from those of the test, unless the test itself is what parameters are chosen on.
    draws = plan.study.seed if on_test else int(stream(plan.study.seed, "tune", "draws"))
    scale = plan.scale
    if protocol["data.scale"] != "stated" and not on_test:
        scale = (float(data.whole.ratings.min()), float(data.whole.ratings.max()))
    options = replace(options, keep_scores=False)
    return Evaluation(data, [tune.measure], protocol, draws, scale, options).measure(recommender).value(tune.measure)
