"""The charts and reports of results: what ``plot()`` and ``report()`` of runs, explanations and others show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatchmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.audits import AuditResults
from repro.errors import StudyError, nearest
from repro.explanations import Explanation, Multiverse
from repro.reports.audit import write_audit_report
from repro.reports.charts import specification
from repro.reports.charts.comparison_chart import comparison_chart
from repro.reports.charts.dot_chart import Dots, Frameworks, dot_chart, systems
from repro.reports.explain import waterfall
from repro.reports.explain.multiverse_page import specification_curve
from repro.reports.run import write_report
from repro.runs.comparison import Compared
from repro.runs.run import Run

if TYPE_CHECKING:
    import altair as alt


class Views:
    """Charts and reports by the type of the result."""

    def plot(self, result: object, /, **options: Any) -> alt.TopLevelMixin:
        """The chart of a result, in the common look: it displays itself in a notebook, and ``save`` writes it."""
        import altair

        return altair.Chart.from_dict(specification(self._drawn(result, **options)))

    @singledispatchmethod
    def _drawn(self, result: object, **options: Any) -> alt.TopLevelMixin:
        raise StudyError(f"there is no chart of {type(result).__name__}")

    @_drawn.register(Run)
    def _(self, run: Run, metric: str | None = None) -> alt.TopLevelMixin:
        table = run.table()
        name = _chosen(metric, list(table.columns), "the run")
        values = {str(label): float(value) for label, value in table[name].items()}
        rows = systems(run.frameworks())
        shown = Dots(name, values, zero=run.better[name] != "lower")
        return dot_chart(shown, rows, Frameworks(row.framework for row in rows))

    @_drawn.register(Compared)
    def _(self, compared: Compared) -> alt.TopLevelMixin:
        return comparison_chart(compared.comparison, compared.metric)

    @_drawn.register(Explanation)
    def _(self, explanation: Explanation) -> alt.TopLevelMixin:
        return waterfall(explanation)

    @_drawn.register(Multiverse)
    def _(self, multiverse: Multiverse, metric: str | None = None) -> alt.TopLevelMixin:
        return specification_curve(multiverse.of(_chosen(metric, multiverse.metrics, "the multiverse")))

    @singledispatchmethod
    def report(self, result: object, into: Path | None, /) -> Path:
        """Write the report of a result; its path."""
        raise StudyError(f"there is no report of {type(result).__name__}")

    @report.register(AuditResults)
    def _(self, results: AuditResults, into: Path | None, /) -> Path:
        return write_audit_report(results)

    @report.register(Run)
    def _(self, run: Run, into: Path | None, /) -> Path:
        return write_report(run, into)


def _chosen(metric: str | None, known: Sequence[str], whose: str) -> str:
    """The metric to draw: the first one, or the one that was asked for."""
    if metric is None:
        return known[0]
    if metric not in known:
        raise StudyError(f"{whose} has no metric '{metric}'{nearest(metric, known)} Metrics: {', '.join(known)}")
    return metric


OF_RESULTS = Views()
