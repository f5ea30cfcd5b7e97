"""Verdicts on printed numbers that are the mean over several protocols."""

from __future__ import annotations

import math

from repro.errors import PluginError
from repro.replications.claim_runs import Runs
from repro.replications.claims.claim import Cell
from repro.replications.claims.printed import infer_rounding
from repro.replications.verdicts.judgement import Judgement, judge_cell, not_run


def judge_means(runs: Runs) -> list[Judgement]:
    """Compare each number with the mean of those that were measured under its protocols, seed by seed."""
    measured = {cell: _numbers(runs, cell) for cell in runs.means}
    means = {
        cell: tuple(math.fsum(of_seed) / len(of_seed) for of_seed in numbers)
        for cell, numbers in measured.items()
        if isinstance(numbers, list)
    }
    rounding = infer_rounding([(cell.printed, values[0]) for cell, values in means.items()])
    judgements = []
    for cell, numbers in measured.items():
        if isinstance(numbers, str):
            judgements.append(not_run(cell, numbers))
            continue
        parts = zip(cell.key.protocols, numbers[0], strict=True)
        shown = ", ".join(f"{cell.printed.shown(value)} ({under or 'protocol'})" for under, value in parts)
        judgements.append(judge_cell(cell, means[cell], rounding).adding(f"the mean of {shown}"))
    return judgements


def _numbers(runs: Runs, cell: Cell) -> list[list[float]] | str:
    """For each seed, the number under each protocol; or the reason why there are none."""
    label, metric = cell.key.algorithm, cell.key.metric
    numbers = []
    for seed in runs.seeds_of(cell):
        of_seed = []
        for under in cell.key.protocols:
            protocol = runs.claim.setting(under, cell.key.changes).protocol
            try:
                of_seed.append(runs.values(protocol, [metric], seed).get((label, metric), math.nan))
            except PluginError as error:  # the protocol uses the splitter of a framework that does not run here
                return str(error)
        if label in runs.not_run:
            return runs.not_run[label]
        if any(map(math.isnan, of_seed)):
            return f"{label} has no {metric} here under each of its protocols"
        numbers.append(of_seed)
    return numbers
