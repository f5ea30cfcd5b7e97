"""Accuracy against catalogue coverage, and against novelty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from repro.reports.html import Cell, Details, Figure, Grid, Table
from repro.reports.run.point_names import LINE, Placed, named_points
from repro.reports.run.run_view import RunView
from repro.reports.run.sections import NARROW, Section, figure
from repro.runs.catalogue_reach import catalogue_reach

if TYPE_CHECKING:
    import altair as alt

_CUTOFF = 10  # if no metric of the study has one
_COUNTED = "it is counted from the stored lists, with the test parts of the other folds as the training part"
_UNCOUNTED = "a run folder has no training parts, so it cannot be counted from the stored lists; add novelty@10"


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
        block
        for axis, values in (coverage, novelty)
        if (defined := {label: value for label, value in values.items() if value == value})
        for block in _figure(view, axis, defined)
    ]
    figures = [block for block in drawn if isinstance(block, Figure)]
    keys = [block for block in drawn if isinstance(block, Table)]
    return Section(
        "tradeoffs",
        title,
        [
            Grid(figures),
            *([Details("The points with their names", keys)] if keys else []),
            *(f"The study does not measure {note}." for note in notes),
        ],
    )


def _measured(view: RunView, name: str) -> tuple[str, dict[str, float]] | None:
    """The first metric of the study of that name."""
    for column, measure in zip(view.better, view.run.measures, strict=True):
        if measure.metric.name == name:
            return column, dict(view.values[column])
    return None


def _figure(view: RunView, axis: str, values: dict[str, float]) -> list[Figure | Table]:
    """The chart, and a table of its points with their numbers."""
    metric = view.ranking_metric
    accuracy = view.values[metric].dropna()
    rows = [
        (row.label, row.framework, values[row.label], float(accuracy[row.label]))
        for row in view.systems
        if row.label in values and row.label in accuracy
    ]
    data = pd.DataFrame(rows, columns=["label", "framework", "reach", "accuracy"])
    named = named_points(data["label"].tolist(), data["reach"].tolist(), data["accuracy"].tolist())
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    sentence = f"{axis} is lowest with {low} ({values[low]:.4g}) and highest with {high} ({values[high]:.4g})."
    if named.numbered:
        sentence += " Points have numbers; their names are in the table below."
    chart = _scatter(view, axis, data, named.texts)
    caption = f"{metric} against {axis}"
    table = [
        [str(number), Cell(label, is_header=True), f"{x:.4f}", f"{y:.4f}"]
        for number, (label, _, x, y) in enumerate(rows, 1)
    ]
    header = ["number", "algorithm", axis, metric]
    return [
        figure(caption, sentence, chart, NARROW),
        Table(header, table, [header[0], *header[2:]], caption, f"Points of {caption}"),
    ]


def _scatter(view: RunView, axis: str, data: pd.DataFrame, texts: Sequence[Placed]) -> alt.TopLevelMixin:
    from repro.reports.charts.library import alt

    metric = view.ranking_metric
    x_axis = alt.X("reach:Q", title=axis, scale=alt.Scale(zero=False, padding=14, nice=False))
    y_axis = alt.Y("accuracy:Q", title=metric, scale=alt.Scale(zero=view.better[metric] != "lower"))
    points = (
        alt.Chart(data, height=320)
        .mark_point(filled=True, size=70, opacity=0.85)
        .encode(
            x=x_axis,
            y=y_axis,
            tooltip=[
                alt.Tooltip("label:N", title="algorithm"),
                alt.Tooltip("reach:Q", title=axis, format=".4f"),
                alt.Tooltip("accuracy:Q", title=metric, format=".4f"),
            ],
            **view.frameworks.encodings(data["framework"]),
        )
    )
    layers = [points]
    for side in dict.fromkeys(text.side for text in texts):
        placed = pd.DataFrame(
            [(text.text, text.x, text.y) for text in texts if text.side == side], columns=["text", "reach", "accuracy"]
        )
        names = alt.Chart(placed).mark_text(
            align=side.align, dx=side.dx, dy=side.dy, fontSize=LINE - 1, baseline="middle", color="#222222"
        )
        layers.append(names.encode(x=x_axis, y=y_axis, text="text:N"))
    return alt.layer(*layers)
