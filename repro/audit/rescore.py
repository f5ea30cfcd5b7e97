"""Scores that a framework's own evaluation made, measured by the core in the way of every study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from repro.data import Impact
from repro.data.filters import one_row_per_pair
from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.evaluation.fold import FoldData
from repro.evaluation.metrics import Measure, metrics, parse_measure
from repro.plugin import Guarded, PipelineFold, Scores
from repro.protocol import Protocol
from repro.split import without_unseen
from repro.study.cell import joined_values, measure_parts

NOTHING = np.empty(0, dtype=np.int32)


class GivenScores:
    """A recommender that was fitted elsewhere: it has a score of every user for every item."""

    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    def fit(self, train: Interactions, *, seed: int) -> None:
        """Nothing is left to be learned."""

    def score(self, users: CodeArray, items: CodeArray) -> Scores:
        return self._at(np.ix_(users, items))

    def predict(self, users: CodeArray, items: CodeArray) -> Scores:
        return self._at((users, items))

    def _at(self, cells: tuple[CodeArray, ...]) -> Scores:
        state = self._scores.state
        return Scores(self._scores.values[cells], None if state is None else state[cells])


@dataclass(frozen=True, eq=False)
class ScoredFold:
    """A fold of a framework's own evaluation, as the rooms of a study take it."""

    parts: FoldData
    recommender: Guarded
    scale: tuple[float, float]
    reported: Mapping[str, float]

    @classmethod
    def of(cls, fold: PipelineFold, rows: Interactions, label: str) -> ScoredFold:
        train, test = rows.select(fold.train), rows.select(fold.test)
        scale = float(rows.ratings.min()), float(rows.ratings.max())
        parts = FoldData(rows, train, test, None, NOTHING)
        return cls(parts, Guarded(GivenScores(fold.scores), label), scale, fold.reported)


@dataclass(frozen=True, eq=False)
class Rescored:
    """The core's number of a fold, of how many users, what each decision touched, and of each list how long it is and
    what it counts; there are no lists where ratings are predicted."""

    value: float
    users: int
    impacts: tuple[Impact, ...]
    lengths: FloatArray
    counts: FloatArray


def rescore(fold: ScoredFold, metric: str, protocol: Protocol, seed: int = 0) -> Rescored:
    """Measure the scores of a fold under a protocol; ``metric`` is called like ``ndcg@10``."""
    measure = parse_measure(metric, protocol, metrics())
    test, _ = one_row_per_pair(fold.parts.test, protocol.text("data.duplicates"))
    parts = replace(fold.parts, test=without_unseen(test, fold.parts.train, protocol))
    measured = measure_parts(fold.recommender, parts, [measure], protocol, seed, fold.scale)
    [(value, users)] = joined_values([measure], measured)
    impacts = tuple(impact for part in measured for impact in part.impacts)
    lists = next((part.tables["values"] for part in measured if "values" in part.tables), None)
    if lists is None:
        return Rescored(value, users, impacts, np.empty(0), np.empty(0))
    return Rescored(value, users, impacts, lists["length"].to_numpy(), _counts(measure, lists))


def _counts(measure: Measure, lists: object) -> FloatArray:
    """What each list counts; nothing where the number is not made of what lists count."""
    name = f"{measure.full_name} numerator"
    return lists[name].to_numpy() if name in lists.column_names else np.empty(0)  # type: ignore[attr-defined,index]
