"""The numbers of each user in a finished run, from what its cells stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from repro.data.io.parquet import read_parquet
from repro.errors import StudyError, nearest
from repro.evaluation.metrics import Measure, metrics, parse_measure
from repro.protocol import Protocol
from repro.runs.fold_pooling import stored_average
from repro.runs.folder import JOURNAL, RunFolder
from repro.runs.journal import Contents, events, read_journal

COLUMNS = ("algorithm", "user", "metric", "value")


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """A run folder, read: what was measured, of whom, and where the tables of each cell are."""

    folder: Path
    journal: Contents

    @classmethod
    def read(cls, folder: str | Path) -> FinishedRun:
        """The run in ``folder``."""
        path = Path(folder)
        if not (path / JOURNAL).is_file():
            raise StudyError(f"{path} is not a run folder: it has no {JOURNAL}; `repro run` makes one")
        journal = read_journal(path / JOURNAL)
        if not (path / "results.parquet").is_file():
            raise StudyError(f"the run in {path} was cut off before its end; finish it with `repro run --resume`")
        return cls(path, journal)

    @cached_property
    def protocol(self) -> Protocol:
        return Protocol.load(self.folder / "protocol.toml")

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """In the order of the study, under the names that the run gave them."""
        names = [entry.full_name for entry in self.journal.events("decisions.resolved")[0].measures]
        return tuple(replace(parse_measure(name, self.protocol, metrics()), recorded=name) for name in names)

    @cached_property
    def cells(self) -> dict[str, dict[str, events.CellFinished]]:
        """The finished cells by algorithm and fold, in the order of the study; of algorithms with all folds only."""
        finished = {event.cell: event for event in self.journal.events("cell.finished")}
        folds = list(self._folds)
        found = {
            label: {fold: finished[cell] for fold in folds if (cell := f"{label}/{fold}") in finished}
            for label in self.algorithms
        }
        return {label: cells for label, cells in found.items() if len(cells) == len(folds)}

    @cached_property
    def _folds(self) -> dict[str, events.FoldMade]:
        return {event.fold: event for event in self.journal.events("fold.made")}

    @cached_property
    def algorithms(self) -> dict[str, str]:
        """The algorithm, as framework/name, that each label of the study stands for."""
        started = {event.cell.rpartition("/")[0]: event.algorithm for event in self.journal.events("cell.started")}
        table = read_parquet(RunFolder(self.folder).place("results.parquet"), columns=["algorithm"])
        order = table["algorithm"].unique().to_pylist()
        return {label: started[label] for label in order}

    def measure(self, name: str) -> Measure:
        """The measure of the study called ``name``, short or in full; each user must have a number of its own."""
        known = {measure.name: measure for measure in reversed(self.measures)}
        known |= {measure.full_name: measure for measure in self.measures}
        found = known.get(name.strip())
        if found is None:
            names = metric_names(self.measures)
            raise StudyError(
                f"the run in {self.folder} did not measure '{name}'{nearest(name, known)} "
                f"It measured: {', '.join(names.values())}"
            )
        if not found.per_user:
            raise StudyError(
                f"{found.name} is a number about all users together, so there is nothing to pair by user; compare "
                f"by another metric: {', '.join(m.name for m in self.measures if m.per_user) or 'the study has none'}"
            )
        return found

    def per_user(self, measure: Measure) -> pd.DataFrame:
        """Each algorithm's number of each user: algorithm, user, value.

        As the protocol averages: the users that it counts, and each with what it counts. A user of several folds has
        the mean of the folds' numbers, so that each user counts once. Algorithms that lack a fold, or about
        which the metric has nothing to say, are left out.
        """
        parts = []
        for label, cells in self.cells.items():
            folds = [found for cell in cells.values() if (found := self._of_cell(measure, cell)) is not None]
            if len(folds) == len(cells):
                parts.append(_mean_of_folds(folds).assign(algorithm=label))
        if not parts:
            return pd.DataFrame(columns=["algorithm", "user", "value"])
        return pd.concat(parts, ignore_index=True)[["algorithm", "user", "value"]]

    def _of_cell(self, measure: Measure, cell: events.CellFinished) -> pd.DataFrame | None:
        """The users of one cell, and the number of each of them alone."""
        folder = RunFolder(self.folder)
        tables = {name: folder.artifact(digest) for name, digest in cell.artifacts.items()}
        found = stored_average(measure, [tables], self.protocol, self.scale)
        if found is None:
            return None
        averaged, ids = found
        return pd.DataFrame({"user": ids[averaged.users], "value": averaged.values})

    @cached_property
    def scale(self) -> tuple[float, float]:
        """The rating scale of the data set."""
        lowest, highest = self.journal.events("data.prepared")[0].scale
        return lowest, highest


def metric_names(measures: Sequence[Measure]) -> dict[str, str]:
    """How a study calls its measures: by the short name, unless two would share it."""
    short = [measure.name for measure in measures]
    return {m.full_name: m.name if short.count(m.name) == 1 else m.full_name for m in measures}


def user_table(run: FinishedRun, measures: Iterable[Measure]) -> pd.DataFrame:
    """The numbers of each user of several measures: algorithm, user, metric, value."""
    names = metric_names(run.measures)
    parts = [run.per_user(measure).assign(metric=names[measure.full_name]) for measure in measures]
    if not parts:
        return pd.DataFrame(columns=list(COLUMNS))
    return pd.concat(parts, ignore_index=True)[list(COLUMNS)]


def _mean_of_folds(folds: list[pd.DataFrame]) -> pd.DataFrame:
    """Each user once, in ascending order."""
    if len(folds) == 1:
        return folds[0]
    every = pd.concat(folds, ignore_index=True)
    codes, ids = pd.factorize(every["user"].to_numpy(), sort=True)
    counts = np.bincount(codes, minlength=len(ids))
    # In the order of the folds, whatever the order in which they were computed; one that is not a number spoils it.
    sums = np.bincount(codes, weights=every["value"].to_numpy(), minlength=len(ids))
    return pd.DataFrame({"user": ids, "value": sums / counts})
