"""A run with stored scores, from which other evaluations of the same fits are computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from repro.data.interactions import CodeArray
from repro.data.io.parquet import read_parquet
from repro.errors import StudyError, nearest
from repro.evaluation.fold import FoldData
from repro.evaluation.kept_scores import read_scores
from repro.plugin import Scores
from repro.protocol import Protocol
from repro.runs.journal import events
from repro.runs.run import Run
from repro.runs.stored_files import KEEP_SCORES
from repro.study import Plan, Study
from repro.study.fold_data import fold_data
from repro.study.reload import reload_plan


@dataclass(frozen=True, eq=False)
class RunFold:
    """One fold of a run; ``test_users`` are the rows of its stored scores."""

    name: str
    parts: FoldData
    test_users: CodeArray


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """A finished run with its data, its folds, and its stored scores, which are read when they are used."""

    run: Run
    plan: Plan

    @classmethod
    def open(
        cls, run: ScoredRun | Run | str | Path, data: object = None, models: Mapping[str, Any] | None = None
    ) -> ScoredRun:
        """A run with its scores; ``data`` is its data, or the path, if that has moved or was given in code.

        ``models`` are those that were given in Python, by label; they are needed only to fit them again.
        """
        if isinstance(run, ScoredRun):
            return run
        run = run if isinstance(run, Run) else Run(run)
        if without := [label for label, cells in run.cells.items() if not all(map(_has_scores, cells.values()))]:
            raise StudyError(f"the run in {run.folder} did not keep the scores of {without[0]}; {KEEP_SCORES}")
        if not run.cells:
            raise StudyError(f"the run in {run.folder} has no algorithm with all its folds; finish it with --resume")
        return cls(run, reload_plan(run, data, models))

    @property
    def study(self) -> Study:
        return self.plan.study

    @property
    def protocol(self) -> Protocol:
        """The protocol that the run was evaluated under."""
        return self.study.protocol

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The labels of the algorithms that were fitted on all folds."""
        return tuple(self.run.cells)

    def chosen(self, labels: Sequence[str] | None) -> tuple[str, ...]:
        """``labels``, which must be those of algorithms of the run; by default all of these."""
        known = self.algorithms
        for label in labels or ():
            if label not in known:
                raise StudyError(
                    f"there is no algorithm '{label}'{nearest(label, known)} There are: {', '.join(known)}"
                )
        return tuple(labels or known)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for readers of numbers under other protocols."""
        if not any(entry.space for entry in self.study.entries):
            return ()
        return (
            "Parameters were chosen under the run's own protocol, and stay as they are: a run with another protocol "
            "might choose others.",
        )

    @property
    def scale(self) -> tuple[float, float]:
        """The rating scale."""
        return self.plan.scale

    def folds(self) -> Iterator[RunFold]:
        """The folds, one at a time."""
        for fold in self.plan.split.folds:
            parts = fold_data(self.plan, fold)
            yield RunFold(fold.name, parts, np.unique(parts.test.users).astype(np.int32))

    def scores(self, label: str, fold: RunFold) -> Scores:
        """The scores of an algorithm: the test users of the fold by all items."""
        cell = self.run.cells[label][fold.name]
        if "scores" not in cell.artifacts:
            raise StudyError(f"the run in {self.run.folder} has no lists, only predictions; ask for rmse or the like")
        scores, items = self.run.stored(cell, "scores"), self.run.stored(cell, "scored_items")
        return read_scores(scores, items, fold.test_users, fold.parts.whole)

    def predictions(self, label: str, fold: str) -> Scores | None:
        """The ratings that an algorithm predicted for the held-out pairs of a fold.

        None if the run did not measure predictions, or if the algorithm does not predict ratings.
        """
        cell = self.run.cells[label][fold]
        if "predictions" not in cell.artifacts:
            return None
        table = read_parquet(self.run.stored(cell, "predictions"), columns=["prediction", "state"])
        return Scores(table["prediction"].to_numpy(), table["state"].to_numpy())

    def same_fit(self, label: str, other: ScoredRun) -> bool:
        """Whether an algorithm gave the same scores and predictions in another run with the same folds."""
        for fold, cell in self.run.cells[label].items():
            artifacts = cell.artifacts, other.run.cells[label][fold].artifacts
            if any(artifacts[0].get(name) != artifacts[1].get(name) for name in ("scores", "scored_items")):
                return False
            if not _same_scores(self.predictions(label, fold), other.predictions(label, fold)):
                return False
        return True


def _has_scores(cell: events.CellFinished) -> bool:
    """Whether the scores were stored, if there are lists."""
    return "scores" in cell.artifacts or "lists" not in cell.artifacts


def _same_scores(first: Scores | None, second: Scores | None) -> bool:
    if first is None or second is None:
        return first is second
    same = np.array_equal(first.values, second.values, equal_nan=True)
    return same and (first.state is None or second.state is None or np.array_equal(first.state, second.state))
