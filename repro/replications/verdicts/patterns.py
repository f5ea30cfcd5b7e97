"""Verdicts on qualitative claims: one number is below, above or about another one, with every seed."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from repro.errors import PluginError
from repro.replications.claim_runs import Runs
from repro.replications.claims.claim import CellKey, Operand, Pattern
from repro.replications.verdicts.examples import WorkedExamples
from repro.replications.verdicts.judgement import Judgement, VerdictName, not_run
from repro.replications.verdicts.metric_properties import metric_property

_RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def judge_patterns(runs: Runs, examples: WorkedExamples | None) -> list[Judgement]:
    """Judge each pattern by measured numbers; a plug-in that fails affects its own patterns only."""
    judgements = []
    for pattern in runs.claim.patterns:
        try:
            judgements.append(_judge(pattern, runs, examples))
        except PluginError as error:
            judgements.append(not_run(pattern, str(error)))
    return judgements


def _judge(pattern: Pattern, runs: Runs, examples: WorkedExamples | None) -> Judgement:
    sides = (pattern.left, pattern.right)
    sentences, held = [], 0
    for seed in runs.seeds:
        if absent := _absent(sides, runs):
            return not_run(pattern, runs.not_run[absent[0]])
        numbers = [_numbers(side, runs, examples, seed) for side in sides]
        if absent := _absent(sides, runs):  # it failed during the run
            return not_run(pattern, runs.not_run[absent[0]])
        pairs = list(product(*numbers))
        failing = [pair for pair in pairs if not _holds(pattern, *(number for _, number in pair))]
        held += not failing
        # The pair that fails, or that comes nearest to failing.
        shown = failing[0] if failing else min(pairs, key=lambda pair: abs(pair[0][1] - pair[1][1]))
        sentences.append(_sentence(pattern, shown) + (f" (seed {seed})" if len(runs.seeds) > 1 else ""))
    all_hold = held == len(runs.seeds)
    count = f"with {held} of {len(runs.seeds)} seeds; " if len(runs.seeds) > 1 else ""
    verdict: VerdictName = "holds" if all_hold else "does not hold"
    return replace(not_run(pattern, count + "; ".join(sentences)), verdict=verdict)


def _absent(sides: Sequence[Operand], runs: Runs) -> list[str]:
    """Algorithms of both sides that could not run; an aggregate of several algorithms needs only one of them."""
    absent = []
    for side in (side for side in sides if side.measures):
        names = list(runs.labels) if side.property_of_metric else runs.matching_labels(side)
        missing = [label for label in names if label in runs.not_run]
        absent += missing if side.take == "each" or len(missing) == len(names) else []
    return absent


Number = tuple[str, float]


def _numbers(side: Operand, runs: Runs, examples: WorkedExamples | None, seed: int) -> list[Number]:
    """The numbers of one side, each with its description."""
    if side.number is not None:
        return [(f"{side.number:g}", side.number)]
    protocol = runs.claim.setting(side.under, side.changes).protocol
    under = f" under {side.under}" if side.under else ""
    if side.property_of_metric:
        described, value = metric_property(runs.separate_run(protocol, seed), side)
        return [_times(f"{described}{under}", value, side)]
    measured = runs.values(protocol, [side.metric], seed) if runs.labels else {}
    numbers = [
        (label, measured[label, side.metric])
        for label in runs.matching_labels(side)
        if (label, side.metric) in measured
    ]
    if examples is not None:
        keys = [CellKey(label, side.metric, side.under, side.changes) for label in _systems(side, runs)]
        numbers += [(key.algorithm, examples.value(key, protocol)) for key in keys]
    if side.take == "each":
        return [_times(f"{side.metric} of {label}{under}", value, side) for label, value in numbers]
    values = [value for _, value in numbers]
    joined = {"min": min(values), "max": max(values), "mean": float(np.mean(values))}[side.take]
    return [_times(f"{side.take} of {side.metric} over {len(numbers)} algorithms{under}", joined, side)]


def _systems(side: Operand, runs: Runs) -> list[str]:
    """The systems of worked examples that a side names."""
    return [label for label in side.matching(runs.claim.labels) if label in runs.claim.systems]


def _times(name: str, value: float, side: Operand) -> Number:
    return (name, value) if side.times == 1 else (f"{side.times:g} x {name}", side.times * value)


def _holds(pattern: Pattern, left: float, right: float) -> bool:
    if pattern.relation == "about":
        allowed = pattern.within * (abs(right) if pattern.relative else 1.0)
        return abs(left - right) <= allowed * (1 + 1e-12)
    return bool(_RELATIONS[pattern.relation](left, right))


def _sentence(pattern: Pattern, pair: Sequence[Number]) -> str:
    left, right = (name if name == f"{value:g}" else f"{name} {value:.4f}" for name, value in pair)
    return f"{left} {pattern.relation} {right}"
