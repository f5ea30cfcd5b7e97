"""A chart of the values of one metric: a line for each algorithm, with a dot for each framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from repro.reports.charts import SCREEN_COLOURS, SHAPES, cycle_to

if TYPE_CHECKING:
    import altair as alt

Interval = tuple[float, float]


@dataclass(frozen=True)
class System:
    """A row of a run's table: its label, and the algorithm and the framework that the label is made of."""

    label: str
    algorithm: str
    framework: str


def systems(frameworks: Mapping[str, str]) -> list[System]:
    """The rows of a table, from the framework of each label: ``lenskit bias`` is the algorithm bias of lenskit.

    If no two frameworks have the same algorithm, the labels are the algorithms, and the frameworks are empty.
    """
    rows = [System(label, label.removeprefix(f"{name} "), name) for label, name in frameworks.items()]
    if len({row.algorithm for row in rows}) < len(rows):
        return rows
    return [System(label, label, "") for label in frameworks]


def dots(
    metric: str, values: Mapping[str, float], rows: Sequence[System], better: str, intervals: Mapping[str, Interval]
) -> alt.TopLevelMixin | None:
    """A chart of the values of each label, with their intervals; None if all values are equal."""
    distinct = {value for value in values.values() if value == value}
    return None if len(distinct) < 2 else dot_chart(metric, values, rows, better, intervals)


def dot_chart(
    metric: str, values: Mapping[str, float], rows: Sequence[System], better: str, intervals: Mapping[str, Interval]
) -> alt.TopLevelMixin:
    """A chart of the values of each label, with their intervals.

    The scale starts at zero, or at the lowest value for metrics of which lower is better.
    """
    from repro.reports.charts.library import alt

    defined = {label: value for label, value in values.items() if value == value}
    data = pd.DataFrame(
        [
            (row.algorithm, row.framework, row.label, defined[row.label], *intervals.get(row.label, (None, None)))
            for row in rows
            if row.label in defined
        ],
        columns=["algorithm", "framework", "label", "value", "low", "high"],
    )
    order = list(dict.fromkeys(data["algorithm"]))
    several = data["framework"].nunique() > 1
    scale = alt.Scale(zero=better != "lower")
    base = alt.Chart(data, height=22 * len(order)).encode(
        y=alt.Y("algorithm:N", title=None, scale=alt.Scale(domain=order), axis=alt.Axis(grid=True)),
        tooltip=[
            alt.Tooltip("label:N", title="algorithm"),
            *(alt.Tooltip(f"{name}:Q", format=".6f") for name in ("value", "low", "high")),
        ],
        **framework_encodings(data["framework"]),
    )
    points = base.mark_point(filled=True, size=70, opacity=0.85).encode(x=alt.X("value:Q", title=metric, scale=scale))
    if several or not intervals:
        return points
    spans = base.mark_rule(strokeWidth=2, color=SCREEN_COLOURS[0]).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    return alt.layer(spans, points)


def framework_encodings(frameworks: pd.Series) -> dict[str, Any]:
    """Colour and shape of each framework, if there are several; shapes help people with colour blindness."""
    from repro.reports.charts.library import alt

    names = sorted(frameworks.unique())
    if len(names) < 2:
        return {}
    colours = cycle_to(SCREEN_COLOURS, len(names))
    # After all shapes are used, they are shifted by one, so that colour and shape together differ.
    shapes = [SHAPES[(index + index // len(SHAPES)) % len(SHAPES)] for index in range(len(names))]
    legend = alt.Legend(title=None, orient="top", columns=4)
    return {
        "color": alt.Color("framework:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        "shape": alt.Shape("framework:N", scale=alt.Scale(domain=names, range=shapes), legend=legend),
    }
