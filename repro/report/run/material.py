"""What the sections of a report are made of: the run folder, read once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from repro.evaluation.suspicion import Summary, summaries
from repro.report.charts.dot_chart import System, systems
from repro.report.html import number
from repro.report.run.significance_section import Tested
from repro.runs.comparison import run_comparisons
from repro.runs.journal import Contents, events
from repro.runs.run import Run
from repro.stats import difference_interval

# Artefacts that a report cannot do without; scores are large, and a run may be passed on without them.
_NEEDED = {"values", "lists", "predictions"}


@dataclass(frozen=True, eq=False)
class Material:
    """A finished run, and what was measured of whom."""

    run: Run

    @classmethod
    def read(cls, run: Run) -> Material:
        """The material of a report about ``run``, whose tables must be there."""
        for cells in run.cells.values():
            for cell in cells.values():
                for name in cell.artifacts.keys() & _NEEDED:
                    run.stored(cell, name)
        return cls(run)

    @property
    def journal(self) -> Contents:
        return self.run.journal

    @property
    def began(self) -> events.RunStarted:
        return self.run.started

    @property
    def title(self) -> str:
        return self.began.question or "Study"

    @cached_property
    def values(self) -> pd.DataFrame:
        """Algorithms by metrics, all folds together; only those with all folds."""
        return self.run.table().reindex(columns=list(self.better))

    @cached_property
    def tie_spans(self) -> dict[tuple[str, str], str]:
        """Of metrics and algorithms that the order of tied items decides: the lowest and the highest value."""
        return {
            (finding.metric, finding.algorithm): " to ".join(
                number(float(finding.figures[end])) for end in ("lowest", "highest")
            )
            for finding in self.run.findings
            if finding.code == "ties.decide"
        }

    @cached_property
    def told(self) -> list[Summary]:
        """What is suspicious, or to be read with the numbers, in paragraphs; they are numbered from 1."""
        return summaries(self.run.findings)

    @cached_property
    def better(self) -> dict[str, str]:
        """The metrics of the table in its order, and which direction of each is the better one."""
        return self.run.better

    @cached_property
    def first(self) -> str:
        """The metric that the question is answered by: the first that any algorithm has a number of."""
        return next((name for name in self.better if self.values[name].notna().any()), next(iter(self.better)))

    @cached_property
    def ranking(self) -> str:
        """The metric that lists are judged by: the first that is about them, or the first of all."""
        of_lists = (
            name
            for name, measure in zip(self.better, self.run.measures, strict=True)
            if measure.metric.kind == "ranking" and self.values[name].notna().any()
        )
        return next(of_lists, self.first)

    @cached_property
    def systems(self) -> list[System]:
        return systems(self.run.frameworks())

    @property
    def several_frameworks(self) -> bool:
        """Whether an algorithm comes from several frameworks."""
        return any(row.framework for row in self.systems)

    @cached_property
    def seconds(self) -> pd.DataFrame:
        return self.run.seconds()

    @cached_property
    def tested(self) -> dict[str, Tested]:
        """Of each metric with a number for each user: which differences are more than chance."""
        comparisons = run_comparisons(self.run)
        tested = {}
        for name in comparisons.metrics:
            best, values = self.best(name), comparisons.values(name)
            if best is not None and best in values.columns:
                tested[name] = Tested(name, self.better[name], values, best, comparisons.of(name))
        return tested

    @property
    def stated(self) -> str:
        """Test, family of comparisons, correction and level, in words; empty where nothing is tested."""
        if not any(tested.compared for tested in self.tested.values()):
            return ""
        return run_comparisons(self.run).settings.stated("all pairs of algorithms by one metric")

    @cached_property
    def means(self) -> dict[str, dict[str, tuple[float, float, float]]]:
        """Of each metric and algorithm: the mean over users, and its interval (low, high)."""
        means: dict[str, dict[str, tuple[float, float, float]]] = {}
        for name, tested in self.tested.items():
            means[name] = {}
            for label in tested.values.columns:
                values = tested.values[label].dropna().to_numpy()
                low, high = difference_interval(values, 0 * values, 1 - tested.level)
                means[name][label] = (float(values.mean()) if len(values) else float("nan"), low, high)
        return means

    def best(self, metric: str) -> str | None:
        """The algorithm with the best value: the highest, or, of errors, the lowest; None where nobody has one."""
        values = self.values[metric].dropna()
        if values.empty:
            return None
        return str(values.idxmin() if self.better[metric] == "lower" else values.idxmax())

    def leaders(self, metric: str, most: int | None = None) -> list[str]:
        """The best algorithms by a metric, the best first."""
        values = self.values[metric].dropna()
        return list(values.sort_values(ascending=self.better[metric] == "lower", kind="stable").index[:most])
