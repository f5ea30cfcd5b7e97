"""The numbers of a run, as tables."""

from __future__ import annotations

import math
import pkgutil
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from repro.data.io.parquet import read_parquet
from repro.errors import ReproWarning
from repro.evaluation.suspicion import Finding
from repro.runs.folder import JOURNAL, RunFolder
from repro.runs.journal import Contents, read_journal
from repro.runs.run import FinishedRun, metric_names, user_table
from repro.runs.tuning_history import TunedAlgorithm, trials_table, tuned_algorithms

if TYPE_CHECKING:
    from repro.evaluation.metrics import Measure
    from repro.runs.journal import events

Interval = tuple[float, float]

ALL_FOLDS = "all"
EXPORT = "repro.export:export_run"
SCHEMA = pa.schema(
    [
        ("algorithm", pa.string()),
        ("framework", pa.string()),
        ("fold", pa.string()),
        ("metric", pa.string()),
        ("measure", pa.string()),
        ("cutoff", pa.int32()),
        ("value", pa.float64()),
        ("users", pa.int64()),
        ("lowest", pa.float64()),
        ("highest", pa.float64()),
    ]
)


@dataclass(frozen=True)
class Results:
    """A finished run: its folder and its tables."""

    folder: Path

    @cached_property
    def _journal(self) -> Contents:
        return read_journal(self.folder / JOURNAL)

    def long(self) -> pd.DataFrame:
        """One row for each algorithm, fold (``all``: all of them together) and metric.

        ``lowest`` and ``highest`` are the extremes of the value over all orders of tied items, where they are known.
        """
        frame: pd.DataFrame = read_parquet(RunFolder(self.folder).place("results.parquet")).to_pandas()
        return frame

    def table(self) -> pd.DataFrame:
        """Algorithms by metrics, all folds together."""
        frame = self.long()
        frame = frame[frame["fold"] == ALL_FOLDS]
        wide = frame.pivot(index="algorithm", columns="metric", values="value")
        return wide.loc[frame["algorithm"].unique(), frame["metric"].unique()]

    def frameworks(self) -> dict[str, str]:
        """The framework of each algorithm of the table."""
        frame = self.long()
        frame = frame[frame["fold"] == ALL_FOLDS].drop_duplicates("algorithm")
        return dict(zip(frame["algorithm"], frame["framework"], strict=True))

    def seconds(self) -> pd.DataFrame:
        """Algorithms by ``fit`` and ``score``: how long the framework took on a fold, in seconds.

        It is the median of the folds, as the first fit of a framework has to load it. ``score`` is for the candidates
        of all lists and the predictions of the held-out pairs. From the journal: the numbers of a run are always the
        same, its times never are.
        """
        cells = {event.cell: event.seconds for event in self._journal.events("cell.finished")}
        rows = [(cell.rpartition("/")[0], took.fit, took.score + took.predict) for cell, took in cells.items()]
        frame = pd.DataFrame(rows, columns=["algorithm", "fit", "score"])
        return frame.groupby("algorithm").median().loc[self.long()["algorithm"].unique()]

    def per_list(self) -> pd.DataFrame:
        """Each list's value of each ranking metric: algorithm, fold, user, (target), metric, value."""
        parts = []
        for event in self._journal.events("cell.finished"):
            if "values" not in event.artifacts:
                continue
            label, _, fold = event.cell.rpartition("/")
            stored = read_parquet(RunFolder(self.folder).artifact(event.artifacts["values"])).to_pandas()
            whose = stored[[name for name in ("user", "target") if name in stored]]
            for column in stored.columns[stored.columns.str.endswith(" numerator")]:
                metric = column.removesuffix(" numerator")
                value = stored[column] / stored[f"{metric} denominator"].where(lambda d: d > 0)
                parts.append(whose.assign(algorithm=label, fold=fold, metric=metric, value=value))
        if not parts:
            return pd.DataFrame(columns=["user", "algorithm", "fold", "metric", "value"])
        return pd.concat(parts, ignore_index=True)

    def per_user(self, metric: str | None = None) -> pd.DataFrame:
        """Each user's number of ``metric``, or of all metrics that have one: algorithm, user, metric, value.

        As the protocol averages, with a user's folds averaged first so that each user counts once; see
        :meth:`repro.runs.run.FinishedRun.per_user`.
        """
        run = FinishedRun.read(self.folder)
        measures = [run.measure(metric)] if metric is not None else [m for m in run.measures if m.per_user]
        return user_table(run, measures)

    def compare(self, metric: str | None = None, *, tune: float | None = None, **settings: Any) -> pd.DataFrame:
        """Which algorithms differ by ``metric`` (the study's first, by default): one row for each pair.

        ``settings`` are those of :func:`repro.stats.compare`: ``test``, ``correct``, ``baseline``, ``level`` and so on;
        which direction is better, the metric knows. ``tune`` is the share of users on which the best setting of each
        algorithm is chosen; the tests are then made on the others.
        """
        from repro.stats import Settings
        from repro.study.compare import compare_systems, systems_of_run

        compared = compare_systems(systems_of_run(self.folder), metric, Settings(**settings), tune)
        for caution in compared.cautions:
            warnings.warn(caution, ReproWarning, stacklevel=2)
        return compared.comparison.pairs

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is suspicious about the numbers, by algorithm; warnings first (:mod:`repro.evaluation.suspicion`)."""
        made = self._journal.events("findings.made")
        return tuple(Finding(**one.model_dump()) for one in made[-1].findings) if made else ()

    def tuning(self) -> pd.DataFrame:
        """Every trial of tuning: algorithm, fold, trial, parameters, metric, value, state, seconds, whether chosen."""
        return trials_table(self.tuned())

    def tuned(self) -> list[TunedAlgorithm]:
        """How the parameters of each algorithm came about."""
        return tuned_algorithms(self._journal, list(self.long()["algorithm"].unique()))

    def impacts(self) -> pd.DataFrame:
        """What each decision touched, for the data, the split and each cell."""
        journal = self._journal
        rows = []
        for line in journal.lines:
            for impact in getattr(line.event, "impacts", ()):
                where = getattr(line.event, "cell", line.event.event.partition(".")[0])
                rows.append({"where": where, **impact.model_dump()})
        return pd.DataFrame(rows)

    def most_touched(self) -> list[str]:
        """For each decision and what is counted of it, the sentence of the cell that it touched most, if any."""
        impacts = self.impacts()
        impacts = impacts[impacts["touched"] > 0].astype({"value": str})
        groups = impacts.groupby(["decision", "value", "unit", "note"], sort=False)["touched"]
        return [str(sentence) for sentence in impacts.loc[groups.idxmax(), "sentence"]]

    def export(self, form: str, target: str | Path, **settings: Any) -> Path:
        """Write the run to ``target`` in another form, such as ``latex``; `repro export --list` lists them all.

        What is at ``target`` already is left alone, unless ``replace=True``.
        """
        # The forms are downstream of a run, and found when they are asked for.
        path: Path = pkgutil.resolve_name(EXPORT)(self.folder, form, Path(target), **settings)
        return path

    def _repr_html_(self) -> str:
        return self.table().to_html()

    def __repr__(self) -> str:
        return f"{self.table()}\n{self.folder}"


def results_table(
    frameworks: Mapping[str, str],
    folds: Sequence[str],
    measures: Sequence[Measure],
    finished: Mapping[str, events.CellFinished],
    pooled: Mapping[str, tuple[float, int]],
    pooled_extremes: Mapping[str, Interval],
) -> pa.Table:
    """The long table, in the order of the study: each fold of an algorithm, then all folds together.

    ``frameworks`` has that of each algorithm, by its label.

    All folds together are the mean of the folds, or, where ``pooled`` has it (by algorithm and measure), the
    value of all folds' users averaged together. ``users`` counts a user once in each average: once in each fold of
    which the mean is taken, and once where folds are pooled.
    ``pooled_extremes`` has the extremes of pooled values over all orders of tied items.
    """
    names = metric_names(measures)
    rows = []
    for label, framework in frameworks.items():
        done = [fold for fold in folds if f"{label}/{fold}" in finished]
        cells = [finished[f"{label}/{fold}"] for fold in done]
        for number, measure in enumerate(measures):
            values = [math.nan if (v := cell.values[number].value) is None else v for cell in cells]
            users = [cell.values[number].users for cell in cells]
            together, counted = pooled.get(
                f"{label}/{measure.full_name}", (math.fsum(values) / max(len(values), 1), sum(users))
            )
            extremes = [_extremes(cell.values[number]) for cell in cells]
            ends = pooled_extremes.get(f"{label}/{measure.full_name}", _mean_extremes(extremes))
            rows += [
                (
                    label,
                    framework,
                    fold,
                    names[measure.full_name],
                    measure.full_name,
                    measure.cutoff,
                    v,
                    n,
                    *(between or (None, None)),
                )
                for fold, v, n, between in [
                    *zip(done, values, users, extremes, strict=True),
                    (ALL_FOLDS, together, counted, ends),
                ]
                if fold != ALL_FOLDS or len(done) == len(folds)
            ]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(SCHEMA)
    return pa.table([list(column) for column in columns], schema=SCHEMA)


def _extremes(entry: events.ValueEntry) -> Interval | None:
    return None if entry.lowest is None or entry.highest is None else (entry.lowest, entry.highest)


def _mean_extremes(folds: Sequence[Interval | None]) -> Interval | None:
    """The mean of the folds' lowest, and of their highest values; None where a fold has none."""
    known = [one for one in folds if one is not None]
    if not known or len(known) < len(folds):
        return None
    return math.fsum(low for low, _ in known) / len(known), math.fsum(high for _, high in known) / len(known)
