"""The table, the findings and the tests of a run, each computed once for all sections of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from repro.evaluation.suspicion import Summary, summaries
from repro.extras import missing
from repro.reports.charts.dot_chart import Frameworks, System, systems
from repro.reports.html import number
from repro.reports.run.gains import Gains, gains_of
from repro.runs.agreement import Agreement, Recurring, agreements, recurring_algorithms
from repro.runs.comparison import Compared, run_comparisons
from repro.runs.journal import Contents, events
from repro.runs.run import Run
from repro.stats import LEVEL, difference_interval

# Artefacts that a report needs; scores are large, and a run may be passed on without them.
_NEEDED = {"values", "lists", "predictions"}


@dataclass(frozen=True, eq=False)
class Tested:
    """The tests of all pairs of systems by one metric.

    values   users x systems
    best     the system with the best value in the table of the run
    p        systems x systems: corrected for the number of pairs; NaN on the diagonal
    against  a row for each other system, in the order of ``values``: its difference to the best one
    """

    metric: str
    better: str
    values: pd.DataFrame
    best: str
    compared: Compared | None

    @cached_property
    def p(self) -> pd.DataFrame:
        names = list(self.values.columns)
        table = pd.DataFrame(np.nan, index=names, columns=names)
        if self.compared is not None:
            for a, b, p in self.compared.comparison.pairs[["a", "b", "p_corrected"]].itertuples(index=False):
                table.loc[a, b] = table.loc[b, a] = p
        return table

    @cached_property
    def against(self) -> pd.DataFrame:
        if self.compared is None:
            return pd.DataFrame()
        return self.compared.comparison.against(self.best).loc[[s for s in self.values.columns if s != self.best]]

    @property
    def level(self) -> float:
        return self.compared.comparison.settings.level if self.compared else LEVEL

    @property
    def pairs(self) -> int:
        """The number of pairs that p is corrected for."""
        return len(self.compared.comparison.pairs) if self.compared else 0

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings about weak intervals and tests."""
        return self.compared.cautions if self.compared else ()

    def differs(self, label: str) -> bool:
        """Whether a system differs significantly from the best one."""
        return label in self.against.index and bool(self.against.loc[label, "significant"])

    @property
    def description(self) -> str:
        """The test, the family of comparisons, the correction and the level, in words."""
        if self.compared is None:
            return "nothing to test"
        return f"{self.compared.comparison.stated}; on each user's {self.metric}, {len(self.values):,} users"


def written_p(p: float) -> str:
    """A p-value as text."""
    if p != p:
        return "not tested"
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


@dataclass(frozen=True, eq=False)
class RunView:
    """A finished run as its report shows it."""

    run: Run

    def __post_init__(self) -> None:
        """Check that the tables of all cells are there."""
        for cells in self.run.cells.values():
            for cell in cells.values():
                for name in cell.artifacts.keys() & _NEEDED:
                    self.run.stored(cell, name)

    @property
    def journal(self) -> Contents:
        return self.run.journal

    @property
    def started(self) -> events.RunStarted:
        return self.run.started

    @cached_property
    def values(self) -> pd.DataFrame:
        """Algorithms by metrics, all folds together; only algorithms with all folds."""
        return self.run.table().reindex(columns=list(self.better))

    @cached_property
    def tie_spans(self) -> dict[tuple[str, str], str]:
        """The lowest and the highest value of metrics and algorithms that the order of tied items decides."""
        return {
            (finding.metric, finding.algorithm): " to ".join(
                number(float(finding.figures[end])) for end in ("lowest", "highest")
            )
            for finding in self.run.findings
            if finding.code == "ties.decide"
        }

    @cached_property
    def findings(self) -> list[Summary]:
        """Suspicious findings and notes on the numbers, in paragraphs; they are numbered from 1."""
        return summaries(self.run.findings)

    @cached_property
    def better(self) -> dict[str, str]:
        """The metrics of the table in its order, and the better direction of each."""
        return self.run.better

    @cached_property
    def main_metric(self) -> str:
        """The metric that answers the question: the first with a number of any algorithm."""
        return next((name for name in self.better if self.values[name].notna().any()), next(iter(self.better)))

    @cached_property
    def headlines(self) -> list[str]:
        """The main metric and, where the study has both lists and predictions, the first accuracy of the other."""
        of_predictions = {
            name: measure.metric.kind == "prediction"
            for name, measure in zip(self.better, self.run.measures, strict=True)
            if measure.metric.task != "beyond accuracy" and self.values[name].notna().any()
        }
        first = dict(reversed([(kind, name) for name, kind in of_predictions.items()]))
        return list(dict.fromkeys([self.main_metric, *(name for name in of_predictions if name in first.values())]))

    @cached_property
    def ranking_metric(self) -> str:
        """The first metric of lists, or the main metric if there is none."""
        of_lists = (
            name
            for name, measure in zip(self.better, self.run.measures, strict=True)
            if measure.metric.kind == "ranking" and self.values[name].notna().any()
        )
        return next(of_lists, self.main_metric)

    @cached_property
    def systems(self) -> list[System]:
        return systems(self.run.frameworks())

    @cached_property
    def frameworks(self) -> Frameworks:
        """The colour and the mark of each framework."""
        return Frameworks(row.framework for row in self.systems)

    @property
    def several_frameworks(self) -> bool:
        """Whether algorithms have a name without that of their framework, as several frameworks have them."""
        return any(row.algorithm != row.label for row in self.systems)

    @cached_property
    def recurring(self) -> list[Recurring]:
        """The algorithms that several frameworks have."""
        return recurring_algorithms(self.run)

    def agreements(self, metric: str) -> list[Agreement]:
        """The agreement of the frameworks by one metric, for each algorithm that several of them have."""
        if metric not in self._agreements:
            self._agreements[metric] = agreements(self.run, metric, self.recurring)
        return self._agreements[metric]

    def gains(self, metric: str) -> Gains | None:
        """The differences to the baseline by one metric."""
        if metric not in self._gains:
            self._gains[metric] = (
                None if self.baseline is None else gains_of(self.run, metric, self.baseline, self.untested)
            )
        return self._gains[metric]

    _agreements = cached_property[dict[str, list[Agreement]]](lambda self: {})
    _gains = cached_property[dict[str, Gains | None]](lambda self: {})

    @cached_property
    def baseline(self) -> str | None:
        """The label of the baseline that the study names; None if it names none, or it did not finish."""
        named = self.run.study.get("baseline")
        return named if named in self.values.index else None

    @property
    def suspected(self) -> set[str]:
        """The algorithms that a warning is about."""
        return {name for finding in self.findings if finding.severity == "warning" for name in finding.algorithms}

    def names(self, labels: Sequence[str]) -> str:
        """Algorithms in words; those of several frameworks have their name once, with the frameworks in brackets."""
        listed = set(labels)
        members: dict[str, list[System]] = {}
        for row in self.systems:
            if row.label in listed:
                members.setdefault(row.algorithm, []).append(row)
        unknown = [label for label in labels if label not in {row.label for row in self.systems}]
        texts = [
            rows[0].label if len(rows) == 1 else f"{name} ({', '.join(row.framework for row in rows)})"
            for name, rows in members.items()
        ]
        return ", ".join([*texts, *unknown])

    def outside(self, metric: str) -> bool:
        """Whether a number lies outside of the interval of its mean over users, because it averages differently."""
        return any(
            low == low and not low <= float(self.values[metric].get(label, low)) <= high
            for label, (_, low, high) in self.means.get(metric, {}).items()
        )

    @cached_property
    def seconds(self) -> pd.DataFrame:
        return self.run.seconds()

    @cached_property
    def untested(self) -> str:
        """The reason why nothing is tested, and no interval given, where the packages for that are not installed."""
        return missing("stats", "a test or an interval")

    @cached_property
    def tested(self) -> dict[str, Tested]:
        """The tests by each metric with a number for each user."""
        comparisons = run_comparisons(self.run)
        tested = {}
        for name in comparisons.metrics:
            leaders, values = self.leaders(name, 1), comparisons.values(name)
            if leaders and leaders[0] in values.columns:
                compared = None if self.untested else comparisons.of(name)
                tested[name] = Tested(name, self.better[name], values, leaders[0], compared)
        return tested

    @property
    def test_description(self) -> str:
        """Test, family of comparisons, correction and level, in words; empty if nothing is tested."""
        if not any(tested.compared for tested in self.tested.values()):
            return ""
        return run_comparisons(self.run).settings.stated("all pairs of algorithms by one metric")

    @cached_property
    def means(self) -> dict[str, dict[str, tuple[float, float, float]]]:
        """For each metric and algorithm: the mean over users, and its interval (low, high)."""
        means: dict[str, dict[str, tuple[float, float, float]]] = {}
        for name, tested in self.tested.items():
            means[name] = {}
            for label in tested.values.columns:
                values = tested.values[label].dropna().to_numpy()
                low = high = float("nan")
                if not self.untested:
                    low, high = difference_interval(values, 0 * values, 1 - tested.level)
                means[name][label] = (float(values.mean()) if len(values) else float("nan"), low, high)
        return means

    def leaders(self, metric: str, most: int | None = None) -> list[str]:
        """The best algorithms by a metric, the best first."""
        values = self.values[metric].dropna()
        return list(values.sort_values(ascending=self.better[metric] == "lower", kind="stable").index[:most])
