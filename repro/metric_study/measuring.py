"""The values of measures for all systems of a run, judged by a part of its test set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from repro.data.interactions import FloatArray, IdArray
from repro.errors import StudyError
from repro.evaluation.metrics import Background, ListOwners, Measure, RankingMetric, metrics, parse_measure
from repro.evaluation.ranking import Ranked
from repro.evaluation.stages import average_lists, measure_ranked, measure_values
from repro.metric_study.judged_lists import JudgedRun, Mask
from repro.protocol import Protocol


class Column(NamedTuple):
    """A metric, as it was requested, at a cut-off."""

    metric: str
    cutoff: int
    measure: Measure


def columns(names: Sequence[str], cutoffs: Sequence[int], protocol: Protocol) -> list[Column]:
    """Every metric at every cut-off; metrics that do not depend on held-out items are refused."""
    named: dict[str, Column] = {}
    for name in names:
        if "@" in name:
            raise StudyError(f"metric '{name}': leave the cut-off out here; --cutoffs gives those of all metrics")
        for cutoff in cutoffs:
            measure = parse_measure(f"{name}@{cutoff}", protocol, metrics())
            _require_judging(name, measure)
            if measure.full_name in named:
                raise StudyError(f"metric {name} is requested twice")
            named[measure.full_name] = Column(name, cutoff, measure)
    return list(named.values())


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


def system_values(run: JudgedRun, requested: Sequence[Column], kept: Sequence[Mask]) -> FloatArray:
    """Columns by systems: the value of each, judged by the held-out rows in ``kept`` (a mask for each fold)."""
    values = np.empty((len(requested), len(run.systems)))
    backgrounds = _backgrounds(run, kept)
    measures = [column.measure for column in requested]
    for system in range(len(run.systems)):
        ranked = [fold.systems[system].judged_by(mask) for fold, mask in zip(run.folds, kept, strict=True)]
        values[:, system] = _averages(measures, ranked, backgrounds, run.protocol)
    return values


def _backgrounds(run: JudgedRun, kept: Sequence[Mask]) -> list[Background]:
    return [
        Background(fold.test.select(mask), np.arange(fold.test.n_items, dtype=np.int32))
        for fold, mask in zip(run.folds, kept, strict=True)
    ]


def all_kept(run: JudgedRun) -> list[Mask]:
    """The whole test set."""
    return [np.ones(len(fold.test), dtype=np.bool_) for fold in run.folds]


def _averages(
    measures: Sequence[Measure], ranked: Sequence[Ranked], backgrounds: Sequence[Background], protocol: Protocol
) -> list[float]:
    """The number of each measure for a system with these lists in each fold; ``average.folds`` joins the folds."""
    owners, folds = [ListOwners.of(lists) for lists in ranked], list(zip(ranked, backgrounds, strict=True))
    if protocol["average.folds"] == "mean":
        numbers = [
            measure_ranked(measures, lists, own, background, protocol)
            for (lists, background), own in zip(folds, owners, strict=True)
        ]
        return [math.fsum(fold[m.full_name].value for fold in numbers) / len(numbers) for m in measures]
    values = [measure_values(measures, lists, background) for lists, background in folds]
    everyone = ListOwners.joined(owners)
    return [
        average_lists(m, [fold[m.full_name] for fold in values], everyone, backgrounds[0], protocol).value
        for m in measures
    ]


def user_values(run: JudgedRun, measure: Measure) -> tuple[IdArray, FloatArray]:
    """The users with a value for every system, and systems by these users; a user's folds are averaged."""
    by_system = []
    backgrounds = _backgrounds(run, all_kept(run))
    for system in range(len(run.systems)):
        parts = []
        for fold, background in zip(run.folds, backgrounds, strict=True):
            ranked = fold.systems[system].ranked
            numbers = measure_ranked([measure], ranked, ListOwners.of(ranked), background, run.protocol)
            averaged = numbers[measure.full_name]
            parts.append(pd.Series(averaged.values, index=averaged.users))
        by_system.append(parts[0] if len(parts) == 1 else pd.concat(parts).groupby(level=0, sort=True).mean())
    table = pd.concat(by_system, axis=1).sort_index().dropna()
    return run.folds[0].test.user_ids[table.index], np.ascontiguousarray(table.to_numpy().T)
