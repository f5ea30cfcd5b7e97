"""Accuracy against how much of the catalogue is shown, and against how well known that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pandas as pd

from repro.report.charts import SCREEN_COLOURS
from repro.report.charts.dot_chart import framework_encodings
from repro.report.html import Grid
from repro.report.run.catalogue_reach import CUTOFF, Counter
from repro.report.run.material import Material
from repro.report.run.sections import NARROW, Section, figure

if TYPE_CHECKING:
    import altair as alt

# Pixels: the plot, about; half a dot; a name at most, and the line it is in; how far it may reach beyond.
_PLOT, _DOT, _LONGEST, _LINE, _MARGIN = (350, 280), 6, 110, 11, 30
_BESIDE: tuple[tuple[str, Literal["left", "right"], int], ...] = (("right", "left", 8), ("left", "right", -8))
_COUNTED = "it is counted from the stored lists, with the test parts of the other folds as the training part"
_UNCOUNTED = "a run folder has no training parts, so it cannot be counted from the stored lists; add novelty@10"
_NAMED = 16  # systems up to which points have their names beside them


def tradeoffs_section(run: Material) -> Section:
    """A chart for coverage and one for novelty: as the study measured them, or counted from its lists."""
    stored = run.run.lists
    title = "Accuracy against coverage and novelty"
    if not stored.available:
        return Section("tradeoffs", title, ["The run has predictions and no lists: there is nothing to count."])
    coverage, novelty = _measured(run, "catalogue-coverage"), _measured(run, "novelty")
    notes = []
    if coverage is None or novelty is None:
        cutoff = next((measure.cutoff for measure in run.run.measures if measure.cutoff), CUTOFF)
        counter = Counter(stored, cutoff)
        counted = {label: counter.of(label) for label in run.run.cells}
        if coverage is None:
            coverage = (
                f"share of items in any list@{cutoff}",
                {label: reach.coverage for label, reach in counted.items()},
            )
            notes.append("catalogue coverage: it is counted from the stored lists, as a share of all items")
        if novelty is None:
            defined = {label: reach.novelty for label, reach in counted.items() if reach.novelty is not None}
            novelty = f"novelty@{cutoff} (bits)", defined
            notes.append(f"novelty: {_COUNTED if defined else _UNCOUNTED}")
    drawn = [
        figure(f"{run.ranking} against {axis}", _sentence(axis, defined), _scatter(run, axis, defined), NARROW)
        for axis, values in (coverage, novelty)
        if (defined := {label: value for label, value in values.items() if value == value})
    ]
    return Section("tradeoffs", title, [Grid(drawn), *(f"The study does not measure {note}." for note in notes)])


def _measured(run: Material, name: str) -> tuple[str, dict[str, float]] | None:
    """The first metric of the study of that name."""
    for column, measure in zip(run.better, run.run.measures, strict=True):
        if measure.metric.name == name:
            return column, dict(run.values[column])
    return None


def _sentence(axis: str, values: dict[str, float]) -> str:
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    return f"{axis} is lowest with {low} ({values[low]:.4g}) and highest with {high} ({values[high]:.4g})."


def _scatter(run: Material, axis: str, values: dict[str, float]) -> alt.TopLevelMixin:
    import altair as alt

    rows = [
        (row.label, row.framework, values[row.label], float(run.values[run.ranking][row.label]))
        for row in run.systems
        if row.label in values and run.values[run.ranking][row.label] == run.values[run.ranking][row.label]
    ]
    data = pd.DataFrame(rows, columns=["label", "framework", "reach", "accuracy"])
    data["side"] = _sides(data)
    base = alt.Chart(data, height=300).encode(
        x=alt.X("reach:Q", title=axis, scale=alt.Scale(zero=False, padding=14, nice=False)),
        y=alt.Y("accuracy:Q", title=run.ranking, scale=alt.Scale(zero=run.better[run.ranking] != "lower")),
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
        for side, align, dx in _BESIDE
    ]
    return alt.layer(points, *names)


def _sides(data: pd.DataFrame) -> list[str]:
    """On which side of its point a name is written, so that no two cover each other; on none where both are taken.

    The tooltips and the table have all names.
    """
    across, up = _scaled(data["reach"], _PLOT[0]), _scaled(data["accuracy"], _PLOT[1])
    taken = [(x - _DOT, x + _DOT, y) for x, y in zip(across, up, strict=True)]
    sides = []
    for label, x, y in zip(data["label"], across, up, strict=True):
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
    """Whether a name fits there: within the plot, and clear of all others; a span is from, to, and how high."""
    start, end, height = span
    if start < -_MARGIN or end > _PLOT[0] + _MARGIN:
        return False
    return not any(start < b and end > a and abs(height - other) < _LINE for a, b, other in taken)
