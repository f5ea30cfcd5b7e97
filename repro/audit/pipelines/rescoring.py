"""Scores of a framework's own evaluation, measured by the core like those of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from repro.data import Impact
from repro.data.filters import one_row_per_pair
from repro.data.interactions import FloatArray, Interactions
from repro.evaluation.evaluation import Evaluation
from repro.evaluation.fold import FoldData
from repro.evaluation.kept_scores import ReplayedScores
from repro.evaluation.metrics import Measure, metrics, parse_measure
from repro.plugin import CheckedRecommender, PipelineFold
from repro.protocol import Protocol
from repro.split import without_unseen

NOTHING = np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class ScoredFold:
    """A fold of a framework's own evaluation, in the form that an evaluation takes."""

    parts: FoldData
    recommender: CheckedRecommender
    scale: tuple[float, float]
    reported: Mapping[str, float]

    @classmethod
    def of(cls, fold: PipelineFold, rows: Interactions, label: str) -> ScoredFold:
        train, test = rows.select(fold.train), rows.select(fold.test)
        scale = float(rows.ratings.min()), float(rows.ratings.max())
        parts = FoldData(rows, train, test, None, NOTHING)
        return cls(parts, ReplayedScores(fold.scores).checked(label), scale, fold.reported)


@dataclass(frozen=True, eq=False)
class Rescored:
    """The core's number for a fold, the number of users, and the impact of each decision.

    ``lengths`` and ``counts`` have the length of each list and what it adds to the number; they are empty where ratings
    are predicted.
    """

    value: float
    users: int
    impacts: tuple[Impact, ...]
    lengths: FloatArray
    counts: FloatArray


def rescore(fold: ScoredFold, metric: str, protocol: Protocol, seed: int = 0) -> Rescored:
    """Measure the scores of a fold under a protocol, with a ``metric`` such as ``ndcg@10``."""
    measure = parse_measure(metric, protocol, metrics())
    test, _ = one_row_per_pair(fold.parts.test, protocol.text("data.duplicates"))
    parts = replace(fold.parts, test=without_unseen(test, fold.parts.train, protocol))
    measured = Evaluation(parts, [measure], protocol, seed, fold.scale).measure(fold.recommender)
    value, users = measured.value(measure)
    impacts, lists = tuple(measured.impacts), measured.tables.get("values")
    if lists is None:
        return Rescored(value, users, impacts, np.empty(0), np.empty(0))
    return Rescored(value, users, impacts, lists["length"].to_numpy(), _counts(measure, lists))


def _counts(measure: Measure, lists: object) -> FloatArray:
    """What each list adds to the number; empty where the number is not a sum over lists."""
    name = f"{measure.full_name} numerator"
    return lists[name].to_numpy() if name in lists.column_names else np.empty(0)  # type: ignore[attr-defined,index]
