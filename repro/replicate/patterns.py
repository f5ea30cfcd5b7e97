"""Qualitative claims: one number below, above or about another one, with every seed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from repro.errors import PluginError
from repro.metric_study.judged_lists import judge_run
from repro.metric_study.measuring import columns, user_values
from repro.replicate.claim import Operand, Pattern, Place
from repro.replicate.examples import WorkedExamples
from repro.replicate.runs import Runs
from repro.replicate.verdict import Judged
from repro.runs.run import Run
from repro.stats.discriminative import discriminative_power
from repro.stats.randomisation import randomisation_test

RANDOMISATIONS = 100_000

_RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def judge_patterns(runs: Runs, examples: WorkedExamples | None) -> list[Judged]:
    """Each pattern against what was measured; one whose numbers cannot be had stops no other."""
    found = []
    for pattern in runs.claim.patterns:
        judged = Judged("pattern", pattern.says, _relation(pattern), "not run")
        try:
            found.append(_judge(pattern, judged, runs, examples))
        except PluginError as error:
            found.append(replace(judged, why=str(error)))
    return found


def _judge(pattern: Pattern, judged: Judged, runs: Runs, examples: WorkedExamples | None) -> Judged:
    absent = [label for side in (pattern.left, pattern.right) for label in _absent(side, runs)]
    if absent:
        return replace(judged, why=runs.not_run[absent[0]])
    told, held = [], 0
    for seed in runs.seeds:
        left, right = (_numbers(side, runs, examples, seed) for side in (pattern.left, pattern.right))
        absent = [label for side in (pattern.left, pattern.right) for label in _absent(side, runs)]
        if absent:  # it failed while it was run
            return replace(judged, why=runs.not_run[absent[0]])
        pairs = list(product(left, right))
        failing = [pair for pair in pairs if not _holds(pattern, *(number for _, number in pair))]
        held += not failing
        shown = failing[:1] or [_tightest(pairs)]
        told.append(_sentence(pattern, shown[0]) + (f" (seed {seed})" if len(runs.seeds) > 1 else ""))
    every = held == len(runs.seeds)
    count = f"with {held} of {len(runs.seeds)} seeds; " if len(runs.seeds) > 1 else ""
    return replace(judged, verdict="holds" if every else "does not hold", why=count + "; ".join(told))


def _absent(side: Operand, runs: Runs) -> list[str]:
    """Algorithms that a side is about and that could not be run; of several that are joined, some may be missing."""
    if not side.measure:
        return []
    names = list(runs.labels) if side.dp else runs.named(side)
    missing = [label for label in names if label in runs.not_run]
    return missing if side.take == "each" or len(missing) == len(names) else []


Number = tuple[str, float]


def _numbers(side: Operand, runs: Runs, examples: WorkedExamples | None, seed: int) -> list[Number]:
    """The numbers of one side, each with what it is."""
    if side.number is not None:
        return [(f"{side.number:g}", side.number)]
    protocol = runs.claim.setting(side.under, side.changes).protocol
    under = f" under {side.under}" if side.under else ""
    if side.dp:
        power = _power(runs.run_apart(protocol, seed), side.dp)
        return [_times(f"discriminative power of {side.dp}{under}", power, side)]
    measured = runs.values(protocol, [side.metric], seed) if runs.labels else {}
    found = [(label, measured[label, side.metric]) for label in runs.named(side) if (label, side.metric) in measured]
    for label in (one for one in side_systems(side, runs) if examples is not None):
        assert examples is not None
        found.append((label, examples.value(Place(label, side.metric, side.under, side.changes), protocol)))
    if side.take == "each":
        return [_times(f"{side.metric} of {label}{under}", value, side) for label, value in found]
    values = [value for _, value in found]
    joined = {"min": min(values), "max": max(values), "mean": float(np.mean(values))}[side.take]
    return [_times(f"{side.take} of {side.metric} over {len(found)} algorithms{under}", joined, side)]


def side_systems(side: Operand, runs: Runs) -> list[str]:
    """The systems of worked examples that a side is about."""
    from fnmatch import fnmatchcase

    systems = [one for one in runs.claim.labels if one in runs.claim.systems]
    return [one for one in systems if any(fnmatchcase(one, name) for name in side.algorithms)]


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
    """The pair that came nearest to failing."""
    return min(pairs, key=lambda pair: abs(pair[0][1] - pair[1][1]))


def _relation(pattern: Pattern) -> str:
    if pattern.relation != "about":
        return pattern.relation
    return f"about, within {pattern.within:.4g}" + (" of the right" if pattern.relative else "")


def _sentence(pattern: Pattern, pair: tuple[Number, Number]) -> str:
    (left, one), (right, two) = pair
    names = [name if name == f"{value:g}" else f"{name} {value:.4f}" for name, value in ((left, one), (right, two))]
    return f"{names[0]} {pattern.relation} {names[1]}"
