"""The numbers of stored scores under many protocols.

The stages of an evaluation are shared between protocols (:mod:`repro.evaluation.cached_stages`): one set of candidates
serves all tie rules, and one ranking all variants and cut-offs of metrics.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray
from repro.errors import ReproError, StudyError
from repro.evaluation.cached_stages import BY_DECISION, FoldStages, ScoreStages, SharedMeasures
from repro.evaluation.metrics import (
    ListOwners,
    Measure,
    Predictions,
    Ratio,
    average,
    average_predictions,
    lacking,
    metrics,
    parse_measure,
    simple_measures,
)
from repro.evaluation.stages import StageKeys, need_scores, rank_depth
from repro.explanations.scored_run import RunFold, ScoredRun
from repro.plugin import Scores
from repro.protocol import Protocol
from repro.types import Progress

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Numbers:
    """The numbers over all folds: protocols x algorithms x metrics.

    ``refusals`` has the reason why a protocol (by its position) has no number for a metric.
    """

    algorithms: tuple[str, ...]
    metrics: tuple[str, ...]
    values: Values
    refusals: Mapping[tuple[int, str], str]

    def of(self, position: int) -> dict[tuple[str, str], float]:
        """The numbers under a protocol, by algorithm and metric."""
        keys = product(self.algorithms, self.metrics)
        return dict(zip(keys, self.values[position].reshape(-1).tolist(), strict=True))


def measure_variants(
    run: ScoredRun,
    protocols: Sequence[Protocol],
    metric_names: Sequence[str],
    algorithms: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Numbers:
    """The numbers that the stored scores of a run give under each protocol.

    Only decisions about evaluation may differ from those of the run: the split and the fitted models stay.
    """
    labels, names = run.chosen(algorithms), tuple(metric_names)
    variants, refusals = _variants(protocols, names)
    numbers = {position: [_FoldNumbers(variant) for _ in labels] for position, variant in variants.items()}
    of_lists = [measure for variant in variants.values() for measure in variant.of_lists]
    total, done = len(run.plan.split.folds) * len(labels) * len(variants), 0
    for fold in run.folds():
        shared = FoldStages(fold.parts, run.study.seed, run.scale, BY_DECISION)
        groups, unlisted = _by_lists(shared, variants)
        for position, why in unlisted.items():
            for algorithm in numbers[position]:
                algorithm.refuse_lists(why)
        for column, label in enumerate(labels):
            stages = ScoreStages(shared, _StoredScores(run, fold, label), rank_depth(of_lists), need_scores(of_lists))
            for lists, group in groups.items():
                for position in _by_ranking(stages, shared, group, variants) if lists else group:
                    numbers[position][column].add(stages, shared)
                done += len(group)
                if progress:
                    progress("variants", done, total)
    values = np.full((len(protocols), len(labels), len(names)), math.nan)
    for position, by_algorithm in numbers.items():
        for column, name in enumerate(names):
            if why := next(filter(None, (algorithm.refusal(name) for algorithm in by_algorithm)), ""):
                refusals[position, name] = why
            elif name in variants[position].measures:
                values[position, :, column] = [algorithm.value(name) for algorithm in by_algorithm]
    return Numbers(labels, names, values, refusals)


@dataclass(frozen=True, eq=False)
class _Variant:
    """A protocol, and the measures to compute under it by the names that the caller uses."""

    protocol: Protocol
    measures: Mapping[str, Measure]

    @cached_property
    def keys(self) -> StageKeys:
        return StageKeys.of(self.protocol)

    @cached_property
    def simple(self) -> list[Measure]:
        """The measures without parts, from which all others are computed."""
        return simple_measures(self.measures.values())

    @property
    def of_lists(self) -> list[Measure]:
        return [measure for measure in self.simple if measure.metric.kind != "prediction"]


def _variants(
    protocols: Sequence[Protocol], names: Sequence[str]
) -> tuple[dict[int, _Variant], dict[tuple[int, str], str]]:
    """The protocols by their position, and why some metrics cannot be computed under some of them."""
    known_metrics, shared = metrics(), SharedMeasures()
    variants: dict[int, _Variant] = {}
    refusals: dict[tuple[int, str], str] = {}
    for position, protocol in enumerate(protocols):
        measures: dict[str, Measure] = {}
        for name in names:
            try:
                measures[name] = shared(parse_measure(name, protocol, known_metrics))
            except ReproError as error:
                refusals[position, name] = str(error)
        if measures:
            variants[position] = _Variant(protocol, measures)
    return variants, refusals


@dataclass(frozen=True, eq=False)
class _StoredScores:
    """The scores that a run stored for an algorithm on a fold."""

    run: ScoredRun
    fold: RunFold
    label: str

    @property
    def users(self) -> CodeArray:
        return self.fold.test_users

    def scores(self) -> Scores:
        return self.run.scores(self.label, self.fold)

    def predictions(self) -> Scores | None:
        return self.run.predictions(self.label, self.fold.name)


def _by_lists(shared: FoldStages, variants: Mapping[int, _Variant]) -> tuple[dict[Hashable, list[int]], dict[int, str]]:
    """The protocols grouped by the items in their lists (None if they need no lists or have none), and why some have
    none."""
    groups: dict[Hashable, list[int]] = {}
    unlisted: dict[int, str] = {}
    for position, variant in variants.items():
        lists: Hashable = None
        try:
            lists = shared.listed(variant).unjudged if variant.of_lists else None
        except ReproError as error:
            unlisted[position] = str(error)
        groups.setdefault(lists, []).append(position)
    return groups, unlisted


def _by_ranking(
    stages: ScoreStages, shared: FoldStages, group: Sequence[int], variants: Mapping[int, _Variant]
) -> list[int]:
    """Sort protocols with the same items in their lists so that those that rank and judge alike are adjacent."""

    def order(position: int) -> tuple[str, int]:
        return repr(stages.ranking_key(variants[position])), id(shared.listed(variants[position]))

    return sorted(group, key=order)


@dataclass(frozen=True, eq=False)
class _FoldNumber:
    """The number of one measure on one fold and, if folds are pooled, the values that it averages."""

    value: float
    ratio: Ratio | None = None
    owners: ListOwners | None = None
    predictions: Predictions | None = None


class _FoldNumbers:
    """The numbers of one algorithm under one protocol, fold after fold."""

    def __init__(self, variant: _Variant) -> None:
        self._variant = variant
        self._folds: list[dict[str, _FoldNumber]] = []
        self._refusals: dict[str, str] = {}

    def refuse_lists(self, why: str) -> None:
        """Record why there are no lists to measure."""
        self._refusals |= {measure.full_name: why for measure in self._variant.of_lists}

    def add(self, stages: ScoreStages, shared: FoldStages) -> None:
        """Add the numbers of another fold."""
        pooled = self._variant.protocol["average.folds"] == "pooled"
        numbers: dict[str, _FoldNumber] = {}
        for measure in self._variant.simple:
            if measure.full_name in self._refusals:
                continue
            try:
                number = self._number(measure, stages, shared)
                numbers[measure.full_name] = number if pooled else _FoldNumber(number.value)
            except ReproError as error:
                self._refusals[measure.full_name] = str(error)
        self._folds.append(numbers)

    def _number(self, measure: Measure, stages: ScoreStages, shared: FoldStages) -> _FoldNumber:
        if measure.metric.kind == "prediction":
            predictions = stages.predictions(self._variant)
            if predictions is None:
                return _FoldNumber(math.nan)
            return _FoldNumber(stages.error(measure, predictions).value, predictions=predictions)
        if lack := lacking(measure.needs, shared.listed(self._variant).background):
            raise StudyError(f"metric {measure.name} needs {lack}")
        ranked = stages.ranked(self._variant)
        value = stages.number(measure, ranked, self._variant).value
        if measure.metric.kind == "collection":
            return _FoldNumber(value)
        return _FoldNumber(value, stages.values(measure, ranked), stages.owners(ranked, self._variant))

    def refusal(self, name: str) -> str:
        """The reason why the measure has no number; empty if it has one, or if it was refused before any fold."""
        measures = [self._variant.measures[name]] if name in self._variant.measures else []
        reasons = (self._refusals.get(part.full_name, "") for part in simple_measures(measures))
        return next(filter(None, reasons), "")

    def value(self, name: str) -> float:
        """The number of a measure over all folds."""
        measure = self._variant.measures[name]
        pooled = self._pooled(measure) if self._variant.protocol["average.folds"] == "pooled" else None
        if pooled is not None:
            return pooled
        values = [
            measure.joined({part: (number.value, 0) for part, number in numbers.items()})[0] for numbers in self._folds
        ]
        return math.fsum(values) / len(values)

    def _pooled(self, measure: Measure) -> float | None:
        if measure.parts:
            values = [self._pooled(part) for part in measure.parts]
            defined = [value for value in values if value is not None]
            return measure.combined(defined) if len(defined) == len(values) else None
        numbers = [fold[measure.full_name] for fold in self._folds]
        ratios = [number.ratio for number in numbers if number.ratio is not None]
        if ratios:
            owners = ListOwners.joined([number.owners for number in numbers if number.owners is not None])
            return average(measure, Ratio.joined(ratios), owners, self._variant.protocol).value
        predictions = [number.predictions for number in numbers if number.predictions is not None]
        return average_predictions(measure, _joined_predictions(predictions)).value if predictions else None


def _joined_predictions(parts: Sequence[Predictions]) -> Predictions:
    names = ("users", "items", "ratings", "values", "own")
    joined: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return replace(parts[0], **joined)
