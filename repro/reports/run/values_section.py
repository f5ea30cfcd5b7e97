"""A chart of each metric."""

from __future__ import annotations

from repro.reports.charts.dot_chart import Dots, dots
from repro.reports.html import Figure, Grid, number
from repro.reports.run.run_view import RunView
from repro.reports.run.sections import NARROW, WIDE, Section, figure


def values_section(view: RunView) -> Section | None:
    """The values of each metric; intervals where they are about the same number."""
    drawn: list[Figure] = []
    for metric, better in view.better.items():
        intervals = {label: (low, high) for label, (_, low, high) in view.means.get(metric, {}).items() if low == low}
        shown = Dots(
            metric, dict(view.values[metric]), {} if view.outside(metric) else intervals, zero=better != "lower"
        )
        chart = dots(shown, view.systems, view.frameworks)
        if chart is not None:
            drawn.append(figure(metric, _extremes(view, metric), chart, NARROW if drawn else WIDE))
    return Section("values", "All metrics", [drawn[0], Grid(drawn[1:])]) if drawn else None


def _extremes(view: RunView, metric: str) -> str:
    values = view.values[metric].dropna()
    direction = {"higher": " Higher is better.", "lower": " Lower is better."}.get(view.better[metric], "")
    low, high = values.idxmin(), values.idxmax()
    return f"From {number(values[low])} ({low}) to {number(values[high])} ({high}).{direction}"
