"""A finished run, read from its folder."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from repro.current import views
from repro.data import Dataset, datasets
from repro.data.io.parquet import read_parquet
from repro.errors import JournalError, StudyError
from repro.evaluation.metrics import Measure, MetricName, metrics, parse_measure
from repro.evaluation.suspicion import Finding
from repro.protocol import Protocol, Value
from repro.runs.cell_records import CellRecord, cell_records
from repro.runs.fold_pooling import user_values
from repro.runs.folder import JOURNAL, RunFolder
from repro.runs.journal import Contents, events, has_journal, read_journal
from repro.runs.journal.events import Line
from repro.runs.journal_tables import impacts_of, largest_impacts, median_seconds, values_of_lists
from repro.runs.lists import StoredLists
from repro.runs.measure_names import measure_named, metric_names
from repro.runs.protocol_changes import ProtocolChange, changes_of
from repro.runs.results_table import ALL_FOLDS
from repro.runs.stored_files import PROTOCOL, RESULTS, STUDY, checked_artifact, checked_files, stored_table
from repro.runs.tuning_history import TunedAlgorithm, trials_table, tuned_algorithms
from repro.stats import CORRECTION, LEVEL, TEST

if TYPE_CHECKING:
    import altair as alt
    import pyarrow as pa

    from repro.runs.comparison import Compared

_USER_COLUMNS = ["algorithm", "user", "metric", "value"]


class Run:
    """A finished run, read from its folder. Tables are read when they are first used.

    >>> run = repro.Run("run")
    >>> run.table().shape  # algorithms by metrics
    (3, 3)
    >>> list(run.per_user("ndcg@10"))
    ['algorithm', 'user', 'metric', 'value']
    >>> len(run.compare("ndcg@10").pairs)  # a paired test for each two algorithms
    3

    folder   the run folder
    journal  the lines of its journal; reading it checks their hash chain
    """

    def __init__(self, folder: str | Path, journal: Contents | None = None) -> None:
        """The run in ``folder``; ``journal`` is that of the folder, if it was read before."""
        self.folder = Path(folder)
        self.files = RunFolder(self.folder)
        if journal is None and not has_journal(self.files.journal):
            raise StudyError(f"{self.folder} is not a run folder: it has no {JOURNAL}; `repro run` makes one")
        self.journal = read_journal(self.files.journal) if journal is None else journal
        self._require_results()
        self._user_values: dict[str, pd.DataFrame] = {}

    def _require_results(self) -> None:
        if not (self.folder / RESULTS).is_file():
            raise StudyError(f"the run in {self.folder} is not finished; finish it with `repro run --resume`")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Path, str]:
        return self.folder.resolve(), self.journal.last_hash

    def __repr__(self) -> str:
        """At most 20 algorithms by 8 metrics, and the folder."""
        shown = self.table().to_string(max_rows=20, max_cols=8, line_width=100)
        return f"{shown}\n{self.folder}"

    def _repr_html_(self) -> str:
        return self.table().to_html()

    # The study

    @cached_property
    def study(self) -> dict[str, Any]:
        """The study as the run recorded it (``study.toml``), as plain data.

        ``repro.study.reload_study(run)`` is a :class:`repro.Study`, which can be run again.
        """
        path = self.files.place(STUDY)
        try:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise JournalError(f"{path} cannot be read: {error}; `repro verify {self.folder}` shows details") from None

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol that the run was evaluated under; an error where the file differs from the journal."""
        for change in self.protocol_changes:
            raise JournalError(
                f"{self.folder / PROTOCOL} is not the protocol of this run: {change.sentence}; "
                f"`repro verify {self.folder}` lists all changes"
            )
        return self.protocol_file

    @cached_property
    def protocol_file(self) -> Protocol:
        """``protocol.toml``, not compared with the journal."""
        return Protocol.load(self.files.place(PROTOCOL))

    @property
    def protocol_changes(self) -> list[ProtocolChange]:
        """The decisions that differ between ``protocol.toml`` and the journal."""
        return changes_of(self.decisions, self.protocol_file)

    @property
    def decisions(self) -> dict[str, Value]:
        """Every decision in the journal: those of the version of repro that made the run."""
        return {entry.decision: entry.value for entry in self.resolved.decisions}

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of the study in its order, with the names that the run gave them."""
        names = [entry.full_name for entry in self.resolved.measures]
        return tuple(replace(parse_measure(name, self.protocol, metrics()), recorded=name) for name in names)

    @cached_property
    def metric_names(self) -> dict[str, str]:
        """The name of each measure in the tables of the run, by its full name."""
        return metric_names(self.measures)

    @cached_property
    def better(self) -> dict[str, str]:
        """The direction of better values, "higher", "lower" or "neither", by the name of the metric in the tables."""
        return {self.metric_names[measure.full_name]: measure.metric.better for measure in self.measures}

    def measure(self, name: MetricName) -> Measure:
        """The measure of the study called ``name``, short or in full; it must have a value for each user."""
        return measure_named(name, self.measures, self.folder)

    # The journal

    started = cached_property[events.RunStarted](lambda self: self._first("run.started"))
    resolved = cached_property[events.DecisionsResolved](lambda self: self._first("decisions.resolved"))
    loaded = cached_property[events.DataLoaded](lambda self: self._first("data.loaded"))
    prepared = cached_property[events.DataPrepared](lambda self: self._first("data.prepared"))

    @property
    def folds(self) -> list[events.FoldMade]:
        return list(self.journal.folds.values())

    @cached_property
    def scale(self) -> tuple[float, float]:
        """The rating scale of the data set."""
        lowest, highest = self.prepared.scale
        return lowest, highest

    @cached_property
    def dataset(self) -> Dataset | None:
        """The description of the data set, if it is a named one."""
        return datasets().get(self.loaded.data)

    @property
    def end(self) -> Line:
        """The journal line that ends the run; reports and exports quote it with ``Line.cited``."""
        return self.journal.end

    def line(self, kind: str) -> Line:
        """The last line of the journal with an event of that kind."""
        lines = [line for line in self.journal.lines if line.event.event == kind]
        if not lines:
            raise JournalError(f"the run in {self.folder} has no event {kind}; finish it with `repro run --resume`")
        return lines[-1]

    @property
    def started_at(self) -> datetime:
        return datetime.fromisoformat(self.journal.lines[0].time)

    @property
    def ended_at(self) -> datetime:
        return datetime.fromisoformat(self.line("run.finished").time)

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the software when the run was started or last resumed."""
        sessions = [*self.journal.events("run.started"), *self.journal.events("run.resumed")]
        return dict(sessions[-1].versions)

    @cached_property
    def environments(self) -> dict[str, list[str]]:
        """The packages that each framework ran with, as ``name==version``, by framework (``environments/*.txt``)."""
        paths = sorted((self.folder / "environments").glob("*.txt"))
        return {
            path.stem: self.files.place(f"environments/{path.name}").read_text(encoding="utf-8").splitlines()
            for path in paths
        }

    def _first(self, kind: str) -> Any:
        matching = self.journal.events(kind)
        if not matching:
            raise JournalError(f"the journal in {self.folder} has no event {kind}: the run did not finish")
        return matching[0]

    # Algorithms and cells

    @cached_property
    def algorithms(self) -> dict[str, str]:
        """The algorithm (``framework/name``) of each label, in the order of the study."""
        started = {event.cell.rpartition("/")[0]: event.algorithm for event in self.journal.events("cell.started")}
        return {label: started[label] for label in self._table["algorithm"].unique().to_pylist()}

    def frameworks(self) -> dict[str, str]:
        """The framework of each algorithm that has all folds, by label."""
        frame = self._all_folds.drop_duplicates("algorithm")
        return dict(zip(frame["algorithm"], frame["framework"], strict=True))

    @property
    def left_out(self) -> dict[str, str]:
        """The algorithms of the study without results, by name or label: they cannot run here, or were dropped."""
        dropped = {label: f"{label} was dropped: {reason}" for label, reason in self.journal.dropped.items()}
        return {**self.started.left_out, **dropped}

    @property
    def framework_versions(self) -> dict[str, str]:
        """The version of each framework."""
        return dict(sorted({(cell.start.framework, cell.start.framework_version) for cell in self.cell_records}))

    @cached_property
    def cells(self) -> dict[str, dict[str, events.CellFinished]]:
        """The finished cells by algorithm and fold, in the order of the study; of algorithms with all folds only."""
        finished, folds = self.journal.finished_cells, list(self.journal.folds)
        cells = {
            label: {fold: finished[cell] for fold in folds if (cell := f"{label}/{fold}") in finished}
            for label in self.algorithms
        }
        return {label: of_folds for label, of_folds in cells.items() if len(of_folds) == len(folds)}

    @cached_property
    def cell_records(self) -> list[CellRecord]:
        """Every cell that ended and was not dropped, with its lines of the journal; of one that ran twice, the last."""
        return cell_records(self.journal)

    @property
    def failed(self) -> dict[str, str]:
        """The cells that failed, with the error."""
        return {cell.start.cell: cell.error for cell in self.cell_records if cell.finish is None}

    def finished_cells(self, label: str) -> list[CellRecord]:
        """The finished cells of an algorithm, in the order of the folds."""
        order = list(self.journal.folds)
        finished = [cell for cell in self.cell_records if cell.label == label and cell.finish is not None]
        return sorted(finished, key=lambda cell: order.index(cell.fold))

    # Numbers

    @cached_property
    def _table(self) -> pa.Table:
        return read_parquet(self.files.place(RESULTS))

    @property
    def results(self) -> pd.DataFrame:
        """One row for each algorithm, fold (``all``: all of them together) and metric.

        ``lowest`` and ``highest`` are the extremes over all orders of tied items, where they are known.
        """
        frame: pd.DataFrame = self._table.to_pandas()
        return frame

    @property
    def _all_folds(self) -> pd.DataFrame:
        frame = self.results
        return frame[frame["fold"] == ALL_FOLDS]

    def table(self) -> pd.DataFrame:
        """Algorithms by metrics, all folds together."""
        frame = self._all_folds
        wide = frame.pivot(index="algorithm", columns="metric", values="value")
        return wide.loc[frame["algorithm"].unique(), frame["metric"].unique()]

    def per_user(self, metric: MetricName | None = None) -> pd.DataFrame:
        """Each user's value of ``metric``, or of all metrics that have one: algorithm, user, metric, value.

        The users are those that the protocol counts. A user of several folds has the mean of the folds' values, so
        that each user counts once.
        """
        measures = [self.measure(metric)] if metric is not None else [m for m in self.measures if m.per_user]
        parts = [self.user_values(measure).assign(metric=self.metric_names[measure.full_name]) for measure in measures]
        return pd.concat(parts, ignore_index=True)[_USER_COLUMNS] if parts else pd.DataFrame(columns=_USER_COLUMNS)

    def user_values(self, measure: Measure) -> pd.DataFrame:
        """Each user's value of one measure: algorithm, user, value.

        Algorithms that lack a fold, or for which the measure is not defined, are left out.
        """
        if measure.full_name not in self._user_values:
            self._user_values[measure.full_name] = self._read_user_values(measure)
        return self._user_values[measure.full_name].copy()

    def _read_user_values(self, measure: Measure) -> pd.DataFrame:
        parts = []
        for label, cells in self.cells.items():
            values = user_values(measure, [*map(self.tables, cells.values())], self.protocol, self.scale)
            if values is not None:
                parts.append(values.assign(algorithm=label))
        columns = ["algorithm", "user", "value"]
        return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)

    def per_list(self) -> pd.DataFrame:
        """Each list's value of each ranking metric: algorithm, fold, user, (target), metric, value."""
        return values_of_lists(self.journal, self.files)

    @cached_property
    def lists(self) -> StoredLists:
        """The lists that the run stored, and the rows that it held out."""
        return StoredLists(self)

    def compare(
        self,
        metric: MetricName | None = None,
        *,
        test: str = TEST,
        correct: str = CORRECTION,
        baseline: str | None = None,
        level: float = LEVEL,
        interval: str = "t",
        select_on: float | None = None,
    ) -> Compared:
        """Test which algorithms differ by ``metric`` (the study's first, by default).

        :func:`repro.compare` explains the arguments and has further ones.
        """
        from repro.runs.comparison import compare

        return compare(
            self,
            metric,
            test=test,
            correct=correct,
            baseline=baseline,
            level=level,
            interval=interval,
            select_on=select_on,
        )

    def plot(self, metric: MetricName | None = None) -> alt.TopLevelMixin:
        """The values of all algorithms by ``metric`` (the study's first, by default), as an Altair chart.

        A notebook displays the chart, and ``chart.save("chart.svg")`` writes it, also as .png, .html or .json.
        """
        return views().plot(self, metric=metric)

    def report(self, into: str | Path | None = None) -> Path:
        """Write the report of the run, ``report.html`` in its folder or the file ``into``, and return its path."""
        return views().report(self, None if into is None else Path(into))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about suspicious numbers, by algorithm; warnings first (:mod:`repro.evaluation.suspicion`)."""
        made = self.journal.events("findings.made")
        return tuple(Finding(**entry.model_dump()) for entry in made[-1].findings) if made else ()

    def seconds(self) -> pd.DataFrame:
        """Algorithms by ``fit`` and ``score``: the seconds that the framework took on a fold.

        They are medians of the folds, because the first fit of a framework loads it. ``score`` is for the candidates of
        all lists and the predictions of held-out pairs.
        """
        return median_seconds(self.journal).loc[list(self.algorithms)]

    def tuning(self) -> pd.DataFrame:
        """Every trial of tuning: algorithm, fold, trial, parameters, metric, value, state, seconds, whether chosen."""
        return trials_table(self.tuned())

    def tuned(self) -> list[TunedAlgorithm]:
        """The algorithms, each with its tuning on each fold."""
        return tuned_algorithms(self.journal, list(self.algorithms))

    def impacts(self) -> pd.DataFrame:
        """The number of rows, users or items that each decision affected, for the data, the split and each cell."""
        return impacts_of(self.journal)

    def most_touched(self) -> list[str]:
        """For each decision and unit, the sentence of the cell with the largest effect, if there is any."""
        return largest_impacts(self.impacts())

    # Stored files

    def tables(self, cell: events.CellFinished) -> dict[str, Path]:
        """The paths of the tables that a cell stored, by name."""
        return {name: self.files.artifact(digest) for name, digest in cell.artifacts.items()}

    def stored(self, cell: events.CellFinished, name: str) -> Path:
        """The path of a table that a cell stored; the file must be there."""
        return stored_table(self.files, cell, name)

    def artifact(self, digest: str) -> Path:
        """The path of an artefact, after a check of its content."""
        return checked_artifact(self.files, digest)

    def file_digests(self) -> Iterator[tuple[str, str]]:
        """The files of the run and their SHA-256: those that the journal names, after a check, and the journal."""
        return checked_files(self.files, self.journal, self.cell_records)
