"""Precision-recall and ROC curves of the best algorithms, from the lists that the run stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from repro.report.charts import DASHES, SCREEN_COLOURS
from repro.report.html import Figure, Grid
from repro.report.run.list_curves import HitFinder, Rates, objection, rates
from repro.report.run.material import Material
from repro.report.run.sections import NARROW, Section, figure

if TYPE_CHECKING:
    import altair as alt

TITLE = "Precision-recall and ROC curves"
_SHOWN = 8  # lines that can be told apart
_POINTS = 60  # of a line: enough for the eye
_MARKED = (1, 5, 10, 20, 50, 100)  # ranks with a dot


def curves_section(run: Material) -> Section:
    """Both curves, or why there are none."""
    stored = run.run.lists
    why = objection(run.run.protocol) if stored.available else "the run has predictions and no lists"
    if why:
        return Section("curves", TITLE, [f"No curves can be drawn: {why}."])
    finder = HitFinder(stored)
    curves = {label: rates(finder.of(label)) for label in run.leaders(run.ranking, _SHOWN) if label in run.run.cells}
    curves = {label: curve for label, curve in curves.items() if curve.lists and len(curve.recall)}
    if not curves:
        return Section("curves", TITLE, ["No curves can be drawn: no held-out item is relevant."])
    return Section("curves", TITLE, [Grid([_precision_recall(curves), _roc(curves)]), _note(run, curves)])


def _note(run: Material, curves: dict[str, Rates]) -> str:
    first = next(iter(curves.values()))
    sentences = [f"Means over lists ({first.lists:,} with something relevant) of their first n items, n = 1, 2, ..."]
    if not all(curve.whole for curve in curves.values()):
        sentences.append(f"Lists were stored down to rank {len(first.recall)}: curves end there.")
    if len(run.values) > len(curves):
        sentences.append(f"Shown are the {len(curves)} best by {run.ranking}.")
    return " ".join(sentences)


def _precision_recall(curves: dict[str, Rates]) -> Figure:
    lines = {label: (curve.recall, curve.precision) for label, curve in curves.items()}
    best = max(curves, key=lambda label: float(curves[label].precision[0]))
    sentence = f"Precision at rank 1 is highest with {best} ({curves[best].precision[0]:.4f})."
    return figure("Precision against recall", sentence, _chart(lines, "recall", "precision", 1), NARROW)


def _roc(curves: dict[str, Rates]) -> Figure | str:
    if not any(curve.false.any() for curve in curves.values()):
        return "There is no ROC curve: lists have relevant items only."
    lines = {label: ([0.0, *curve.false], [0.0, *curve.recall]) for label, curve in curves.items()}
    best = max(curves, key=lambda label: float(curves[label].recall[-1]))
    end = curves[best]
    sentence = (
        f"At rank {len(end.recall)}, {best} has found most: {end.recall[-1]:.1%} of what is relevant, with "
        f"{end.false[-1]:.1%} of the rest."
    )
    return figure("ROC", sentence, _chart(lines, "false positive rate", "true positive rate", 0), NARROW)


def _chart(lines: Mapping[str, tuple[object, object]], x: str, y: str, first: int) -> alt.TopLevelMixin:
    """A line for each algorithm; ``first`` is how many items its first point is about."""
    import altair as alt

    parts = []
    for label, (across, up) in lines.items():
        points = pd.DataFrame({"x": across, "y": up}).round(5)
        kept = sorted({round(at * (len(points) - 1) / (_POINTS - 1)) for at in range(_POINTS)})
        parts.append(points.iloc[kept].assign(system=label, n=[at + first for at in kept]))
    names = list(lines)
    legend = alt.Legend(title=None, orient="top", columns=2)
    colours = [SCREEN_COLOURS[place % len(SCREEN_COLOURS)] for place in range(len(names))]
    dashes = [DASHES[place % len(DASHES)] for place in range(len(names))]
    data = pd.concat(parts, ignore_index=True)
    base = alt.Chart(data, height=320).encode(
        x=alt.X("x:Q", title=x),
        y=alt.Y("y:Q", title=y),
        color=alt.Color("system:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        tooltip=[
            alt.Tooltip("system:N", title="algorithm"),
            alt.Tooltip("n:Q", title="items"),
            alt.Tooltip("x:Q", title=x, format=".4f"),
            alt.Tooltip("y:Q", title=y, format=".4f"),
        ],
    )
    dash = alt.StrokeDash("system:N", scale=alt.Scale(domain=names, range=dashes), legend=legend)
    marked = alt.FieldOneOfPredicate(field="n", oneOf=list(_MARKED))
    points = base.transform_filter(marked).mark_point(filled=True, size=35, opacity=1)
    return alt.layer(base.mark_line().encode(order="n:Q", strokeDash=dash), points)
