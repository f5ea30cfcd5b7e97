"""Accuracy against catalogue coverage, and against novelty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pandas as pd

from repro.reports.charts import SCREEN_COLOURS
from repro.reports.charts.dot_chart import framework_encodings
from repro.reports.html import Grid
from repro.reports.run.run_view import RunView
from repro.reports.run.sections import NARROW, Section, figure
from repro.runs.catalogue_reach import catalogue_reach

if TYPE_CHECKING:
    import altair as alt

_CUTOFF = 10  # if no metric of the study has one
# Pixels: about the size of the plot; half a dot; the longest name, and the height of its line; the margin for names.
_PLOT, _DOT, _LONGEST, _LINE, _MARGIN = (350, 280), 6, 110, 11, 30
# Names are right or left of a point: side, alignment, distance.
_SIDES: tuple[tuple[str, Literal["left", "right"], int], ...] = (("right", "left", 8), ("left", "right", -8))
_COUNTED = "it is counted from the stored lists, with the test parts of the other folds as the training part"
_UNCOUNTED = "a run folder has no training parts, so it cannot be counted from the stored lists; add novelty@10"
_NAMED = 16  # most systems whose points have names


def tradeoffs_section(view: RunView) -> Section:
    """A chart for coverage and one for novelty: as the study measured them, or counted from its lists."""
    stored = view.run.lists
    title = "Accuracy against coverage and novelty"
    if not stored.available:
        return Section("tradeoffs", title, ["The run has predictions and no lists, so neither can be counted."])
    coverage, novelty = _measured(view, "catalogue-coverage"), _measured(view, "novelty")
    notes = []
    if coverage is None or novelty is None:
        cutoff = next((measure.cutoff for measure in view.run.measures if measure.cutoff), _CUTOFF)
        reaches = catalogue_reach(stored, cutoff)
        if coverage is None:
            shares = {label: reach.coverage for label, reach in reaches.items()}
            coverage = f"share of items in any list@{cutoff}", shares
            notes.append("catalogue coverage: it is counted from the stored lists, as a share of all items")
        if novelty is None:
            defined = {label: reach.novelty for label, reach in reaches.items() if reach.novelty is not None}
            novelty = f"novelty@{cutoff} (bits)", defined
            notes.append(f"novelty: {_COUNTED if defined else _UNCOUNTED}")
    drawn = [
        figure(f"{view.ranking_metric} against {axis}", _sentence(axis, defined), _scatter(view, axis, defined), NARROW)
        for axis, values in (coverage, novelty)
        if (defined := {label: value for label, value in values.items() if value == value})
    ]
    return Section("tradeoffs", title, [Grid(drawn), *(f"The study does not measure {note}." for note in notes)])


def _measured(view: RunView, name: str) -> tuple[str, dict[str, float]] | None:
    """The first metric of the study of that name."""
    for column, measure in zip(view.better, view.run.measures, strict=True):
        if measure.metric.name == name:
            return column, dict(view.values[column])
    return None


def _sentence(axis: str, values: dict[str, float]) -> str:
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    return f"{axis} is lowest with {low} ({values[low]:.4g}) and highest with {high} ({values[high]:.4g})."


def _scatter(view: RunView, axis: str, values: dict[str, float]) -> alt.TopLevelMixin:
    from repro.reports.charts.library import alt

    metric = view.ranking_metric
    accuracy = view.values[metric].dropna()
    rows = [
        (row.label, row.framework, values[row.label], float(accuracy[row.label]))
        for row in view.systems
        if row.label in values and row.label in accuracy
    ]
    data = pd.DataFrame(rows, columns=["label", "framework", "reach", "accuracy"])
    data["side"] = _sides(data)
    base = alt.Chart(data, height=300).encode(
        x=alt.X("reach:Q", title=axis, scale=alt.Scale(zero=False, padding=14, nice=False)),
        y=alt.Y("accuracy:Q", title=metric, scale=alt.Scale(zero=view.better[metric] != "lower")),
        tooltip=[
            alt.Tooltip("label:N", title="algorithm"),
            alt.Tooltip("reach:Q", title="x", format=".4f"),
            alt.Tooltip("accuracy:Q", title="y", format=".4f"),
        ],
    )
    encodings = framework_encodings(data["framework"]) if len(data) else {}
    points = base.mark_point(filled=True, size=70, opacity=0.85, color=SCREEN_COLOURS[0]).encode(**encodings)
    if len(data) > _NAMED:
        return points
    names = [
        base.transform_filter(alt.FieldEqualPredicate(field="side", equal=side))
        .mark_text(align=align, dx=dx, fontSize=10, limit=_LONGEST, color="#222222")
        .encode(text="label:N")
        for side, align, dx in _SIDES
    ]
    return alt.layer(points, *names)


def _sides(data: pd.DataFrame) -> list[str]:
    """The side of its point that each name is on, so that no two names overlap; empty if there is no space.

    The tooltips and the table have all names.
    """
    xs, ys = _scaled(data["reach"], _PLOT[0]), _scaled(data["accuracy"], _PLOT[1])
    taken = [(x - _DOT, x + _DOT, y) for x, y in zip(xs, ys, strict=True)]
    sides = []
    for label, x, y in zip(data["label"], xs, ys, strict=True):
        length = min(6.0 * len(label), _LONGEST)
        spans = {"right": (x + _DOT, x + _DOT + length, y), "left": (x - _DOT - length, x - _DOT, y)}
        free = [side for side, span in spans.items() if _is_free(span, taken)]
        taken += [spans[side] for side in free[:1]]
        sides.append(free[0] if free else "")
    return sides


def _scaled(values: pd.Series, size: int) -> pd.Series:
    """From 0, the lowest value, to ``size``, the highest."""
    span = values.max() - values.min()
    return (values - values.min()) / (span or 1) * size


def _is_free(span: tuple[float, float, float], taken: list[tuple[float, float, float]]) -> bool:
    """Whether a name fits within the plot without overlap; a span is its start, end and height."""
    start, end, height = span
    if start < -_MARGIN or end > _PLOT[0] + _MARGIN:
        return False
    return not any(start < right and end > left and abs(height - y) < _LINE for left, right, y in taken)
