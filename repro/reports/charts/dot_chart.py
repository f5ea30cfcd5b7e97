"""A chart of the values of one metric: a line for each algorithm, with a dot for each framework."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from repro.reports.charts.look import SCREEN_COLOURS, SHAPES, cycle_to, short_names

if TYPE_CHECKING:
    import altair as alt

Interval = tuple[float, float]

ROW_HEIGHT = 22
_INK = "#222222"


@dataclass(frozen=True)
class System:
    """A row of a run's table: its label, and the algorithm and the framework that the label is made of."""

    label: str
    algorithm: str
    framework: str


def systems(frameworks: Mapping[str, str]) -> list[System]:
    """The rows of a table, from the framework of each label: ``lenskit bias`` is the algorithm bias of lenskit.

    If no two frameworks have the same algorithm, the labels are the algorithms.
    """
    rows = [System(label, label.removeprefix(f"{name} "), name) for label, name in frameworks.items()]
    if len({row.algorithm for row in rows}) < len(rows) and _are_unique(rows):
        return rows
    return [System(label, label, name) for label, name in frameworks.items()]


def _are_unique(rows: Sequence[System]) -> bool:
    return len({(row.algorithm, row.framework) for row in rows}) == len(rows)


class Frameworks:
    """The colour and the mark of each framework, the same in all charts of a report.

    Marks help people with colour blindness. After all marks are used, they are shifted by one, so that colour and mark
    together differ. A single framework needs neither.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = sorted(set(names))
        self._colours = dict(zip(self.names, cycle_to(SCREEN_COLOURS, len(self.names)), strict=True))
        shapes = [SHAPES[(index + index // len(SHAPES)) % len(SHAPES)] for index in range(len(self.names))]
        self._shapes = dict(zip(self.names, shapes, strict=True))

    @property
    def several(self) -> bool:
        return len(self.names) > 1

    def colour(self, name: str) -> str:
        return self._colours[name]

    def shape(self, name: str) -> str:
        return self._shapes[name]

    def encodings(self, shown: Iterable[str], *, marks: bool = True) -> dict[str, Any]:
        """Colour and mark by the field ``framework``; the legend has the frameworks of the chart."""
        from repro.reports.charts.library import alt

        if not self.several:
            return {}
        names = [name for name in self.names if name in set(shown)]
        legend = alt.Legend(title=None, orient="top", columns=4)
        scales = {"color": [self._colours[name] for name in names], "shape": [self._shapes[name] for name in names]}
        kinds = {"color": alt.Color, "shape": alt.Shape}
        return {
            channel: kinds[channel]("framework:N", scale=alt.Scale(domain=names, range=values), legend=legend)
            for channel, values in scales.items()
            if marks or channel == "color"
        }


@dataclass(frozen=True)
class Dots:
    """The content of a chart of dots.

    title       of the axis
    values      by label
    intervals   of labels; none is drawn where a line has several dots
    zero        whether the axis starts at zero
    log         whether it is logarithmic, with the ticks ``powers``
    reference   where a vertical line is drawn
    """

    title: str
    values: Mapping[str, float]
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    zero: bool = True
    powers: Sequence[float] = ()
    reference: float | None = None


def dots(shown: Dots, rows: Sequence[System], frameworks: Frameworks) -> alt.TopLevelMixin | None:
    """A line for each algorithm of ``rows``, with a dot for each label; None if all values are equal."""
    distinct = {value for value in shown.values.values() if value == value}
    return None if len(distinct) < 2 else dot_chart(shown, rows, frameworks)


def dot_chart(shown: Dots, rows: Sequence[System], frameworks: Frameworks) -> alt.TopLevelMixin:
    """A line for each algorithm of ``rows``, with a dot for each label."""
    from repro.reports.charts.library import alt

    defined = {label: value for label, value in shown.values.items() if value == value}
    data = pd.DataFrame(
        [
            (row.algorithm, row.framework, row.label, defined[row.label], *shown.intervals.get(row.label, (None, None)))
            for row in rows
            if row.label in defined
        ],
        columns=["algorithm", "framework", "label", "value", "low", "high"],
    )
    names = short_names(data["algorithm"])
    data["row"] = data["algorithm"].map(names)
    order = list(dict.fromkeys(data["row"]))
    if shown.powers:
        scale = alt.Scale(type="log")
    elif shown.reference is not None:
        scale = alt.Scale(padding=10)  # on both sides of the line, dots lie within the plot
    else:
        scale = alt.Scale(zero=shown.zero)
    axis = alt.Axis(format="~g", values=list(shown.powers)) if shown.powers else alt.Axis()
    base = alt.Chart(data, height=ROW_HEIGHT * len(order)).encode(
        y=alt.Y("row:N", title=None, scale=alt.Scale(domain=order), axis=alt.Axis(grid=True)),
        tooltip=[
            alt.Tooltip("label:N", title="algorithm"),
            *(alt.Tooltip(f"{name}:Q", format=".6f") for name in ("value", "low", "high")),
        ],
        **frameworks.encodings(data["framework"]),
    )
    points = base.mark_point(filled=True, size=70, opacity=0.85).encode(
        x=alt.X("value:Q", title=shown.title, scale=scale, axis=axis)
    )
    layers = [points]
    if shown.intervals and len(order) == len(data):
        spans = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
        layers = [spans, points]
    if shown.reference is not None:
        line = alt.Chart(pd.DataFrame({"reference": [shown.reference]})).mark_rule(strokeDash=[4, 3], color=_INK)
        layers = [line.encode(x="reference:Q"), *layers]
    return points if len(layers) == 1 else alt.layer(*layers)
