"""The charts and reports of results: what ``plot()`` and ``report()`` of runs, explanations and others show."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import singledispatchmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.audits import AuditResults
from repro.errors import ProtocolError, StudyError, nearest
from repro.evaluation.metrics import MetricName, metric_text, own_name
from repro.explanations import Explanation, Multiverse
from repro.metric_study import MetricStudy
from repro.replications import Replication
from repro.reports.audit import write_audit_report
from repro.reports.charts import specification
from repro.reports.charts.comparison_chart import comparison_chart
from repro.reports.charts.dot_chart import Dots, Frameworks, dot_chart, systems
from repro.reports.explain import waterfall, write_explanation, write_multiverse
from repro.reports.explain.multiverse_page import specification_curve
from repro.reports.metric_study import write_metric_study
from repro.reports.metric_study.metric_study_page import charts
from repro.reports.replicate import write_page
from repro.reports.replicate.verdict_chart import verdict_chart
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
    def _(self, run: Run, metric: MetricName | None = None) -> alt.TopLevelMixin:
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
    def _(self, multiverse: Multiverse, metric: MetricName | None = None) -> alt.TopLevelMixin:
        return specification_curve(multiverse.of(_chosen(metric, multiverse.metrics, "the multiverse")))

    @_drawn.register(Replication)
    def _(self, replication: Replication) -> alt.TopLevelMixin:
        return verdict_chart(replication)

    @_drawn.register(MetricStudy)
    def _(self, study: MetricStudy, figure: str | None = None) -> alt.TopLevelMixin:
        drawn = charts(study)
        name = "power-of-metrics" if figure is None else figure
        if name not in drawn:
            raise StudyError(f"there is no figure '{name}'{nearest(name, drawn)} Figures: {', '.join(drawn)}")
        return drawn[name]

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

    @report.register(Explanation)
    def _(self, explanation: Explanation, into: Path, /) -> Path:
        title = explanation.question or f"From {explanation.first} to {explanation.second}"
        return write_explanation([explanation], into, title, explanation.run)

    @report.register(Multiverse)
    def _(self, multiverse: Multiverse, into: Path, /) -> Path:
        return write_multiverse(multiverse, into, multiverse.run)

    @report.register(MetricStudy)
    def _(self, study: MetricStudy, into: Path, /) -> Path:
        return write_metric_study(study, into, study.folder)

    @report.register(Replication)
    def _(self, replication: Replication, into: Path | None, /) -> Path:
        if replication.claim is None:
            raise StudyError(f"the claim {replication.name} could not be read, so it has no report")
        return write_page(replication.claim, replication, into)


def _chosen(metric: MetricName | None, known: Sequence[str], whose: str) -> str:
    """The metric to draw: the first one, or the one that was asked for."""
    if metric is None:
        return known[0]
    name = metric_text(metric)
    with suppress(ProtocolError):
        name = name if name in known else own_name(name)
    if name not in known:
        raise StudyError(f"{whose} has no metric '{name}'{nearest(name, known)} Metrics: {', '.join(known)}")
    return name


OF_RESULTS = Views()
