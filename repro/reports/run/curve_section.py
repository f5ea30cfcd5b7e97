"""Precision-recall and ROC curves of the best algorithms, from the lists that the run stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from repro.reports.charts import DASHES, SCREEN_COLOURS, SHAPES, cycle_to, short_names
from repro.reports.html import Figure, Grid
from repro.reports.run.run_view import RunView
from repro.reports.run.sections import NARROW, Section, figure
from repro.runs.list_curves import HitFinder, Rates, objection, rates

if TYPE_CHECKING:
    import altair as alt

TITLE = "Precision-recall and ROC curves"
_ALGORITHMS = 8  # more lines would be hard to distinguish
_POINTS = 60  # points of a line
_MARKED = (1, 5, 10, 20, 50, 100)  # ranks with a dot


def curves_section(view: RunView) -> Section:
    """Both curves, or why there are none."""
    stored = view.run.lists
    problem = objection(view.run.protocol) if stored.available else "the run has predictions and no lists"
    if problem:
        return Section("curves", TITLE, [f"No curves can be drawn: {problem}."])
    finder = HitFinder(stored)
    curves = {
        label: rates(finder.of(label))
        for label in view.leaders(view.ranking_metric, _ALGORITHMS)
        if label in view.run.cells
    }
    curves = {label: curve for label, curve in curves.items() if curve.lists and len(curve.recall)}
    if not curves:
        return Section("curves", TITLE, ["No curves can be drawn: no held-out item is relevant."])
    styles = _styles(view, list(curves))
    charts = [_precision_recall(curves, styles), _roc(curves, styles)]
    return Section("curves", TITLE, [Grid(charts), _note(view, curves)])


def _note(view: RunView, curves: dict[str, Rates]) -> str:
    first = next(iter(curves.values()))
    sentences = [f"Means over lists ({first.lists:,} with a relevant item) of their first n items, n = 1, 2, ..."]
    if not all(curve.complete for curve in curves.values()):
        sentences.append(f"Lists were stored down to rank {len(first.recall)}: curves end there.")
    if len(view.values) > len(curves):
        sentences.append(f"Shown are the {len(curves)} best by {view.ranking_metric}.")
    return " ".join(sentences)


@dataclass(frozen=True)
class _Style:
    """The name of a line in the legend, its colour, its mark and its dashes."""

    name: str
    colour: str
    shape: str
    dashes: list[int]


def _styles(view: RunView, labels: list[str]) -> dict[str, _Style]:
    """Colour and mark are those of the framework, if there are several; the dashes distinguish its algorithms."""
    names, framework_of = short_names(labels), view.run.frameworks()
    if not view.frameworks.several:
        colours, shapes = cycle_to(SCREEN_COLOURS, len(labels)), cycle_to(SHAPES, len(labels))
        dashes = cycle_to(DASHES, len(labels))
        parts = zip(labels, colours, shapes, dashes, strict=True)
        return {label: _Style(names[label], colour, shape, dash) for label, colour, shape, dash in parts}
    styles: dict[str, _Style] = {}
    for label in labels:
        framework = framework_of[label]
        before = sum(framework_of[other] == framework for other in styles)
        colour, shape = view.frameworks.colour(framework), view.frameworks.shape(framework)
        styles[label] = _Style(names[label], colour, shape, DASHES[before % len(DASHES)])
    return styles


def _precision_recall(curves: dict[str, Rates], styles: Mapping[str, _Style]) -> Figure:
    lines = {label: (curve.recall, curve.precision) for label, curve in curves.items()}
    best = max(curves, key=lambda label: float(curves[label].precision[0]))
    sentence = f"Precision at rank 1 is highest with {best} ({curves[best].precision[0]:.4f})."
    return figure("Precision against recall", sentence, _chart(lines, styles, ("recall", "precision"), 1), NARROW)


def _roc(curves: dict[str, Rates], styles: Mapping[str, _Style]) -> Figure | str:
    if not any(curve.false.any() for curve in curves.values()):
        return "There is no ROC curve: lists have relevant items only."
    lines = {label: ([0.0, *curve.false], [0.0, *curve.recall]) for label, curve in curves.items()}
    best = max(curves, key=lambda label: float(curves[label].recall[-1]))
    end = curves[best]
    sentence = (
        f"At rank {len(end.recall)}, {best} has the highest recall: {end.recall[-1]:.1%} of the relevant items, with "
        f"{end.false[-1]:.1%} of the other items."
    )
    return figure("ROC", sentence, _chart(lines, styles, ("false positive rate", "true positive rate"), 0), NARROW)


def _chart(
    lines: Mapping[str, tuple[object, object]], styles: Mapping[str, _Style], axes: tuple[str, str], first: int
) -> alt.TopLevelMixin:
    """A line for each algorithm; ``first`` is the number of items of its first point."""
    from repro.reports.charts.library import alt

    x, y = axes
    parts = []
    for label, (x_values, y_values) in lines.items():
        points = pd.DataFrame({"x": x_values, "y": y_values}).round(5)
        drawn = sorted({round(point * (len(points) - 1) / (_POINTS - 1)) for point in range(_POINTS)})
        parts.append(
            points.iloc[drawn].assign(system=styles[label].name, label=label, n=[index + first for index in drawn])
        )
    drawn_styles = [styles[label] for label in lines]
    names = [style.name for style in drawn_styles]
    legend = alt.Legend(title=None, orient="top", columns=2)
    data = pd.concat(parts, ignore_index=True)
    base = alt.Chart(data, height=320).encode(
        x=alt.X("x:Q", title=x),
        y=alt.Y("y:Q", title=y),
        color=alt.Color("system:N", scale=_scale(names, [s.colour for s in drawn_styles]), legend=legend),
        tooltip=[
            alt.Tooltip("label:N", title="algorithm"),
            alt.Tooltip("n:Q", title="items"),
            alt.Tooltip("x:Q", title=x, format=".4f"),
            alt.Tooltip("y:Q", title=y, format=".4f"),
        ],
    )
    dash = alt.StrokeDash("system:N", scale=_scale(names, [s.dashes for s in drawn_styles]), legend=legend)
    shape = alt.Shape("system:N", scale=_scale(names, [s.shape for s in drawn_styles]), legend=legend)
    marked = alt.FieldOneOfPredicate(field="n", oneOf=list(_MARKED))
    points = base.transform_filter(marked).mark_point(filled=True, size=45, opacity=1).encode(shape=shape)
    return alt.layer(base.mark_line().encode(order="n:Q", strokeDash=dash), points)


def _scale(names: list[str], values: list[Any]) -> alt.Scale:
    from repro.reports.charts.library import alt

    return alt.Scale(domain=names, range=values)
