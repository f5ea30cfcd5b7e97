"""A run that kept its scores: everything that other evaluations of the same fits need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repro.data.interactions import CodeArray
from repro.data.io.parquet import read_parquet
from repro.errors import JournalError, StudyError, nearest
from repro.evaluation.fold import FoldData
from repro.evaluation.kept_scores import read_scores
from repro.plugin import Scores
from repro.protocol import Protocol
from repro.runs.folder import RunFolder
from repro.runs.journal import events
from repro.runs.run import Run
from repro.study import Plan, Study, make_plan
from repro.study.again import require_same, study_again
from repro.study.fold_data import fold_data

RUN_AGAIN = "run the study again with `repro run --keep-scores --resume`, which keeps what is finished"


@dataclass(frozen=True, eq=False)
class KeptFold:
    """One fold of a kept run; ``test_users`` are the rows of its scores."""

    name: str
    parts: FoldData
    test_users: CodeArray


@dataclass(frozen=True, eq=False)
class KeptRun:
    """A finished run, its data and folds made again, and its scores, read when they are asked for."""

    run: Run
    plan: Plan

    @classmethod
    def open(cls, folder: str | Path, data: object = None) -> KeptRun:
        """The run in ``folder``; ``data`` is where its data is, if it is no longer where the run found it."""
        run = Run(folder)
        if without := [label for label, cells in run.cells.items() if not all(map(_has_scores, cells.values()))]:
            raise StudyError(f"the run in {run.folder} did not keep the scores of {without[0]}; {RUN_AGAIN}")
        if not run.cells:
            raise StudyError(f"the run in {run.folder} has no algorithm with all its folds; finish it with --resume")
        plan = make_plan(study_again(run, data), to_fit=False)
        require_same(run, plan)
        return cls(run, plan)

    @property
    def study(self) -> Study:
        return self.plan.study

    @property
    def protocol(self) -> Protocol:
        """The one that the run was evaluated under."""
        return self.study.protocol

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The labels of those that were fitted on all folds."""
        return tuple(self.run.cells)

    def chosen(self, wanted: Sequence[str] | None) -> tuple[str, ...]:
        """The algorithms that are asked for; all of them where none is."""
        known = self.algorithms
        for label in wanted or ():
            if label not in known:
                raise StudyError(
                    f"there is no algorithm '{label}'{nearest(label, known)} There are: {', '.join(known)}"
                )
        return tuple(wanted or known)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known about numbers under other protocols."""
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

    def folds(self) -> Iterator[KeptFold]:
        """The folds, one at a time."""
        for fold in self.plan.split.folds:
            parts = fold_data(self.plan, fold)
            yield KeptFold(fold.name, parts, np.unique(parts.test.users).astype(np.int32))

    def scores(self, label: str, fold: KeptFold) -> Scores:
        """The scores of an algorithm: the test users of the fold by all items."""
        if "scores" not in self._artifacts(label, fold.name):
            raise StudyError(f"the run in {self.run.folder} has no lists, only predictions; ask for rmse or the like")
        paths = [self._path(label, fold.name, name) for name in ("scores", "scored_items")]
        return read_scores(paths[0], paths[1], fold.test_users, fold.parts.whole)

    def predictions(self, label: str, fold: str) -> Scores | None:
        """The ratings that an algorithm predicted for the held-out pairs of a fold; None where there are none.

        They are there where the run measured predictions, of algorithms that predict ratings.
        """
        if "predictions" not in self._artifacts(label, fold):
            return None
        table = read_parquet(self._path(label, fold, "predictions"), columns=["prediction", "state"])
        return Scores(table["prediction"].to_numpy(), table["state"].to_numpy())

    def same_fit(self, label: str, other: KeptRun) -> bool:
        """Whether an algorithm gave the same scores and predictions in another run with the same folds."""
        for fold in self.run.cells[label]:
            mine, theirs = self._artifacts(label, fold), other._artifacts(label, fold)
            if any(mine.get(name) != theirs.get(name) for name in ("scores", "scored_items")):
                return False
            predicted = self.predictions(label, fold), other.predictions(label, fold)
            if not _same_scores(*predicted):
                return False
        return True

    def _artifacts(self, label: str, fold: str) -> Mapping[str, str]:
        return self.run.cells[label][fold].artifacts

    def _path(self, label: str, fold: str, name: str) -> Path:
        folder, digest = RunFolder(self.run.folder), self._artifacts(label, fold)[name]
        if not folder.artifact(digest).is_file():
            raise JournalError(
                f"the {name.replace('_', ' ')} of {label} ({fold}) are no longer in {folder.artifacts}; {RUN_AGAIN}"
            )
        return folder.artifact(digest)


def _has_scores(cell: events.CellFinished) -> bool:
    """Whether scores were kept, where there are lists."""
    return "scores" in cell.artifacts or "lists" not in cell.artifacts


def _same_scores(one: Scores | None, two: Scores | None) -> bool:
    if one is None or two is None:
        return one is two
    same = np.array_equal(one.values, two.values, equal_nan=True)
    return same and (one.state is None or two.state is None or np.array_equal(one.state, two.state))
