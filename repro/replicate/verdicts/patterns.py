"""Verdicts on qualitative claims: one number is below, above or about another one, with every seed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from repro.errors import PluginError
from repro.metric_study.judged_lists import judge_run
from repro.metric_study.measuring import columns, user_values
from repro.replicate.claim_runs import Runs
from repro.replicate.claims.claim import CellKey, Operand, Pattern
from repro.replicate.verdicts.examples import WorkedExamples
from repro.replicate.verdicts.judgement import Judgement
from repro.runs.run import Run
from repro.stats import discriminative_power, randomisation_test

RANDOMISATIONS = 100_000

_RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def judge_patterns(runs: Runs, examples: WorkedExamples | None) -> list[Judgement]:
    """Judge each pattern by measured numbers; a plug-in that fails affects its own patterns only."""
    judgements = []
    for pattern in runs.claim.patterns:
        not_run = Judgement("pattern", pattern.says, _relation(pattern), "not run")
        try:
            judgements.append(_judge(pattern, not_run, runs, examples))
        except PluginError as error:
            judgements.append(replace(not_run, why=str(error)))
    return judgements


def _judge(pattern: Pattern, not_run: Judgement, runs: Runs, examples: WorkedExamples | None) -> Judgement:
    absent = [label for side in (pattern.left, pattern.right) for label in _absent(side, runs)]
    if absent:
        return replace(not_run, why=runs.not_run[absent[0]])
    sentences, held = [], 0
    for seed in runs.seeds:
        left_numbers, right_numbers = (_numbers(side, runs, examples, seed) for side in (pattern.left, pattern.right))
        absent = [label for side in (pattern.left, pattern.right) for label in _absent(side, runs)]
        if absent:  # it failed during the run
            return replace(not_run, why=runs.not_run[absent[0]])
        pairs = list(product(left_numbers, right_numbers))
        failing = [pair for pair in pairs if not _holds(pattern, *(number for _, number in pair))]
        held += not failing
        shown = failing[:1] or [_tightest(pairs)]
        sentences.append(_sentence(pattern, shown[0]) + (f" (seed {seed})" if len(runs.seeds) > 1 else ""))
    all_hold = held == len(runs.seeds)
    count = f"with {held} of {len(runs.seeds)} seeds; " if len(runs.seeds) > 1 else ""
    return replace(not_run, verdict="holds" if all_hold else "does not hold", why=count + "; ".join(sentences))


def _absent(side: Operand, runs: Runs) -> list[str]:
    """Algorithms of a side that could not run; an aggregate of several algorithms needs only one of them."""
    if not side.measure:
        return []
    names = list(runs.labels) if side.dp else runs.matching_labels(side)
    missing = [label for label in names if label in runs.not_run]
    return missing if side.take == "each" or len(missing) == len(names) else []


Number = tuple[str, float]


def _numbers(side: Operand, runs: Runs, examples: WorkedExamples | None, seed: int) -> list[Number]:
    """The numbers of one side, each with its description."""
    if side.number is not None:
        return [(f"{side.number:g}", side.number)]
    protocol = runs.claim.setting(side.under, side.changes).protocol
    under = f" under {side.under}" if side.under else ""
    if side.dp:
        power = _power(runs.separate_run(protocol, seed), side.dp)
        return [_times(f"discriminative power of {side.dp}{under}", power, side)]
    measured = runs.values(protocol, [side.metric], seed) if runs.labels else {}
    numbers = [
        (label, measured[label, side.metric])
        for label in runs.matching_labels(side)
        if (label, side.metric) in measured
    ]
    for label in (system for system in side_systems(side, runs) if examples is not None):
        assert examples is not None
        numbers.append((label, examples.value(CellKey(label, side.metric, side.under, side.changes), protocol)))
    if side.take == "each":
        return [_times(f"{side.metric} of {label}{under}", value, side) for label, value in numbers]
    values = [value for _, value in numbers]
    joined = {"min": min(values), "max": max(values), "mean": float(np.mean(values))}[side.take]
    return [_times(f"{side.take} of {side.metric} over {len(numbers)} algorithms{under}", joined, side)]


def side_systems(side: Operand, runs: Runs) -> list[str]:
    """The systems of worked examples that a side names."""
    systems = [label for label in runs.claim.labels if label in runs.claim.systems]
    return [label for label in systems if any(fnmatchcase(label, name) for name in side.algorithms)]


def _times(name: str, value: float, side: Operand) -> Number:
    return (name, value) if side.times == 1 else (f"{side.times:g} x {name}", side.times * value)


@cache
def _power(folder: Path, metric: str) -> float:
    """DP of a metric: the sum of the p-values of Fisher's randomisation test over all pairs of algorithms."""
    name, _, cutoff = metric.partition("@")
    run = judge_run(Run(folder), int(cutoff))
    column = columns([name], [int(cutoff)], run.protocol)[0]
    users, values = user_values(run, column.measure)
    return discriminative_power(randomisation_test(values, RANDOMISATIONS, run.seed, users=users).p)


def _holds(pattern: Pattern, left: float, right: float) -> bool:
    if pattern.relation == "about":
        allowed = pattern.within * (abs(right) if pattern.relative else 1.0)
        return abs(left - right) <= allowed * (1 + 1e-12)
    return _RELATIONS[pattern.relation](left, right)


def _tightest(pairs: Sequence[tuple[Number, Number]]) -> tuple[Number, Number]:
    """The pair that comes nearest to failing."""
    return min(pairs, key=lambda pair: abs(pair[0][1] - pair[1][1]))


def _relation(pattern: Pattern) -> str:
    if pattern.relation != "about":
        return pattern.relation
    return f"about, within {pattern.within:.4g}" + (" of the right" if pattern.relative else "")


def _sentence(pattern: Pattern, pair: tuple[Number, Number]) -> str:
    (left_name, left_value), (right_name, right_value) = pair
    names = [
        name if name == f"{value:g}" else f"{name} {value:.4f}"
        for name, value in ((left_name, left_value), (right_name, right_value))
    ]
    return f"{names[0]} {pattern.relation} {names[1]}"
