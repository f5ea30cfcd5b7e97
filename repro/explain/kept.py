"""A run that kept its scores: everything that other evaluations of the same fits need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from repro.data import datasets
from repro.data.interactions import CodeArray
from repro.errors import JournalError, StudyError
from repro.journal import events
from repro.plugin import Scores
from repro.protocol import Protocol
from repro.study import Plan, Study, make_plan
from repro.study.folder import RunFolder
from repro.study.kept_scores import read_scores
from repro.study.parts import FoldParts
from repro.study.per_user import FinishedRun

RUN_AGAIN = "run the study again with `repro run --keep-scores --resume`, which keeps what is finished"


@dataclass(frozen=True, eq=False)
class KeptFold:
    """One fold of a kept run; ``test_users`` are the rows of its scores."""

    name: str
    parts: FoldParts
    test_users: CodeArray


@dataclass(frozen=True, eq=False)
class KeptRun:
    """A finished run, its data and folds made again, and its scores, read when they are asked for."""

    run: FinishedRun
    plan: Plan

    @classmethod
    def open(cls, folder: str | Path, data: object = None) -> KeptRun:
        """The run in ``folder``; ``data`` is where its data is, if it is no longer where the run found it."""
        run = FinishedRun.read(folder)
        if without := [label for label, cells in run.cells.items() if not all(map(_has_scores, cells.values()))]:
            raise StudyError(f"the run in {run.folder} did not keep the scores of {without[0]}; {RUN_AGAIN}")
        if not run.cells:
            raise StudyError(f"the run in {run.folder} has no algorithm with all its folds; finish it with --resume")
        plan = make_plan(_study(run, data), to_fit=False)
        loaded = run.journal.events("data.loaded")[0]
        if loaded.digest != plan.source.digest:
            raise JournalError(
                f"the data changed since the run in {run.folder} (digest {loaded.digest[:12]} then, "
                f"{plan.source.digest[:12]} now); give the data of that time with --data"
            )
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

    @property
    def scale(self) -> tuple[float, float]:
        """The rating scale."""
        return self.plan.scale

    def folds(self) -> Iterator[KeptFold]:
        """The folds, one at a time."""
        for fold in self.plan.split.folds:
            parts = FoldParts.of(self.plan, fold)
            yield KeptFold(fold.name, parts, np.unique(parts.test.users).astype(np.int32))

    def scores(self, label: str, fold: KeptFold) -> Scores:
        """The scores of an algorithm: the test users of the fold by all items."""
        artifacts = self._artifacts(label, fold.name)
        if "scores" not in artifacts:
            raise StudyError(f"the run in {self.run.folder} has no lists, only predictions; ask for rmse or the like")
        return read_scores(artifacts["scores"], artifacts["scored_items"], fold.test_users, fold.parts.whole)

    def predictions(self, label: str, fold: KeptFold) -> Scores | None:
        """The ratings that an algorithm predicted for the held-out pairs of the fold; None where it predicts none."""
        artifacts = self._artifacts(label, fold.name)
        if "predictions" not in artifacts:
            return None
        table = pq.read_table(artifacts["predictions"], columns=["prediction", "state"])
        return Scores(table["prediction"].to_numpy(), table["state"].to_numpy())

    def _artifacts(self, label: str, fold: str) -> dict[str, Path]:
        return {name: self._folder.artifact(digest) for name, digest in self.run.cells[label][fold].artifacts.items()}

    @cached_property
    def _folder(self) -> RunFolder:
        return RunFolder(self.run.folder)


def _has_scores(cell: events.CellFinished) -> bool:
    """Whether scores were kept, where there are lists; predictions always are."""
    return "scores" in cell.artifacts or "lists" not in cell.artifacts


def _study(run: FinishedRun, data: object) -> Study:
    """The study of a run, with its data: where the run found it, or beside the run or its folder."""
    study = Study.load(run.folder / "study.toml")
    if data is not None:
        study.data = data
    elif study.data_name == "given in code":
        raise StudyError(f"the data of the run in {run.folder} was given in code; give it again, with data= or --data")
    elif study.data_name not in datasets():
        places = (run.folder, run.folder.resolve().parent, Path())
        found = next((place / study.data_name for place in places if (place / study.data_name).exists()), None)
        if found is None:
            raise StudyError(
                f"the data of the run in {run.folder}, {study.data_name}, is not there; give it with --data"
            )
        study.data = found
    return study
