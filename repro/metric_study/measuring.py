"""The values of measures for all systems of a run, judged by a part of its test set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from repro.data.interactions import FloatArray, IdArray
from repro.errors import StudyError
from repro.evaluation.metrics import (
    Averaged,
    Background,
    ListOwners,
    Measure,
    RankingMetric,
    Ratio,
    average,
    metrics,
    parse_measure,
)
from repro.evaluation.ranking import Ranked
from repro.metric_study.judged_lists import JudgedRun, Mask
from repro.protocol import Protocol


class Column(NamedTuple):
    """A metric, as it was asked for, at a cut-off."""

    metric: str
    cutoff: int
    measure: Measure


def columns(names: Sequence[str], cutoffs: Sequence[int], protocol: Protocol) -> list[Column]:
    """Every metric at every cut-off; metrics that tell nothing of held-out items are refused."""
    found: dict[str, Column] = {}
    for name in names:
        if "@" in name:
            raise StudyError(f"metric '{name}': leave the cut-off out here; --cutoffs gives those of all metrics")
        for cutoff in cutoffs:
            measure = parse_measure(f"{name}@{cutoff}", protocol, metrics())
            _require_judging(name, measure)
            if measure.full_name in found:
                raise StudyError(f"metric {name} is asked for twice")
            found[measure.full_name] = Column(name.strip().lower(), cutoff, measure)
    return list(found.values())


def _require_judging(name: str, measure: Measure) -> None:
    metric = measure.metric
    if not measure.per_user or not isinstance(metric, RankingMetric):
        raise StudyError(f"metric {name} has no value for each user, and this study compares users; leave it out")
    if beyond := [need for need in metric.needs if need != "test"]:
        raise StudyError(
            f"metric {name} needs more than lists and held-out ratings ({', '.join(beyond)}), and a run folder does "
            "not keep that; leave it out"
        )
    if metric.undefined != "no-relevant":
        raise StudyError(
            f"metric {name} does not look at relevance, so that it stays the same whatever is held out; leave it out"
        )
    if metric.better == "neither":
        raise StudyError(f"metric {name} does not say which of two systems is better; leave it out")


def system_values(run: JudgedRun, asked: Sequence[Column], kept: Sequence[Mask]) -> FloatArray:
    """Columns by systems: the value of each, judged by the held-out rows in ``kept`` (a mask for each fold)."""
    values = np.empty((len(asked), len(run.systems)))
    known = _backgrounds(run, kept)
    for system in range(len(run.systems)):
        blocks = [fold.systems[system].judged_by(mask) for fold, mask in zip(run.folds, kept, strict=True)]
        for number, column in enumerate(asked):
            values[number, system] = _joined(column.measure, blocks, known, run.protocol)
    return values


def _backgrounds(run: JudgedRun, kept: Sequence[Mask]) -> list[Background]:
    return [
        Background(fold.test.select(mask), np.arange(fold.test.n_items, dtype=np.int32))
        for fold, mask in zip(run.folds, kept, strict=True)
    ]


def all_kept(run: JudgedRun) -> list[Mask]:
    """The whole test set."""
    return [np.ones(len(fold.test), dtype=np.bool_) for fold in run.folds]


def _joined(measure: Measure, blocks: Sequence[Ranked], known: Sequence[Background], protocol: Protocol) -> float:
    """The value of one system, folds joined as ``average.folds`` says."""
    ratios = [measure.of_lists(block, background) for block, background in zip(blocks, known, strict=True)]
    if protocol["average.folds"] == "mean":
        values = [
            _averaged(measure, ratio, [block], protocol).value for ratio, block in zip(ratios, blocks, strict=True)
        ]
        return math.fsum(values) / len(values)
    return _averaged(measure, Ratio.joined(ratios), blocks, protocol).value


def _averaged(measure: Measure, ratio: Ratio, blocks: Sequence[Ranked], protocol: Protocol) -> Averaged:
    return average(measure, ratio, ListOwners.joined([ListOwners.of(block) for block in blocks]), protocol)


def user_values(run: JudgedRun, measure: Measure) -> tuple[IdArray, FloatArray]:
    """The users whom every system has a number for, and systems by these users; a user's folds are averaged."""
    by_system = []
    known = _backgrounds(run, all_kept(run))
    for system in range(len(run.systems)):
        parts = []
        for fold, background in zip(run.folds, known, strict=True):
            block = fold.systems[system].ranked
            averaged = _averaged(measure, measure.of_lists(block, background), [block], run.protocol)
            parts.append(pd.Series(averaged.values, index=averaged.users))
        by_system.append(parts[0] if len(parts) == 1 else pd.concat(parts).groupby(level=0, sort=True).mean())
    table = pd.concat(by_system, axis=1).sort_index().dropna()
    return run.folds[0].test.user_ids[table.index], np.ascontiguousarray(table.to_numpy().T)
