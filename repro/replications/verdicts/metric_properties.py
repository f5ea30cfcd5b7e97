"""Properties of metrics over all algorithms of a run: discriminative power, agreement and robustness of orders."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from repro.data.interactions import FloatArray
from repro.metric_study.judged_lists import JudgedRun, judge_run
from repro.metric_study.measuring import Column, all_kept, columns, system_values, user_values
from repro.metric_study.reduced_tests import Comparison, ReducedTest, tau
from repro.replications.claims.claim import Operand
from repro.runs.run import Run
from repro.stats import discriminative_power, randomisation_test

RANDOMISATIONS = 100_000
SAMPLES = 50


def metric_property(folder: Path, side: Operand) -> tuple[str, float]:
    """One side of a pattern that is a property of a metric, in words, and its value on the run in ``folder``."""
    first, share = side.metrics[0], side.share
    if side.property_of_metric == "tau":
        return f"tau of {first} with {side.metrics[1]}", _agreement(folder, first, side.metrics[1])
    if side.property_of_metric == "sparsity":
        return f"tau of {first} with itself on {share:g} of the ratings", _robustness(folder, first, share, SAMPLES)
    if side.property_of_metric == "popularity":
        described = f"tau of {first} with itself without the {share:g} most popular items"
        return described, _robustness(folder, first, share, 0)
    return f"discriminative power of {first}", _power(folder, first)


def _judged(folder: Path, metric: str) -> tuple[JudgedRun, Column]:
    """The lists of a run at the cut-off of a metric, and the metric."""
    name, _, cutoff = metric.rpartition("@")
    run = _judged_lists(folder, int(cutoff))
    return run, columns([name], [int(cutoff)], run.protocol)[0]


@cache
def _judged_lists(folder: Path, cutoff: int) -> JudgedRun:
    return judge_run(Run(folder), cutoff)


@cache
def _power(folder: Path, metric: str) -> float:
    """DP of a metric: the sum of the p-values of Fisher's randomisation test over all pairs of algorithms."""
    run, column = _judged(folder, metric)
    users, values = user_values(run, column.measure)
    return discriminative_power(randomisation_test(values, RANDOMISATIONS, run.seed, users=users).p)


@cache
def _order(folder: Path, metric: str) -> FloatArray:
    """The values of all algorithms, the higher the better."""
    run, column = _judged(folder, metric)
    values = system_values(run, [column], all_kept(run))[0]
    return -values if column.measure.metric.better == "lower" else values


def _agreement(folder: Path, first: str, second: str) -> float:
    """Kendall's tau-b between the orders of the algorithms by two metrics."""
    return tau(_order(folder, first), _order(folder, second))


@cache
def _robustness(folder: Path, metric: str, share: float, samples: int) -> float:
    """The tau of a metric with itself under smaller test sets: the mean over random ones, or without popular items."""
    run, column = _judged(folder, metric)
    comparison = Comparison(run, [column], system_values(run, [column], all_kept(run)), run.seed)
    reduced = [ReducedTest(share, sample) for sample in range(1, samples + 1)] or [ReducedTest(share, 0)]
    return float(np.nanmean([comparison.taus(test)[0] for test in reduced]))
