"""The time that frameworks took."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from repro.reports.charts import SCREEN_COLOURS
from repro.reports.run.run_view import RunView
from repro.reports.run.sections import Section, figure

if TYPE_CHECKING:
    import altair as alt

_LEAST = 0.001  # seconds; shorter times are drawn here, as clocks are not that precise


def timing_section(view: RunView) -> Section | None:
    """Seconds to fit and to score, on a scale of powers of ten."""
    seconds = view.seconds.loc[[row.label for row in view.systems]]
    if seconds.empty:
        return None
    slowest = {name: str(seconds[name].idxmax()) for name in seconds.columns}
    sentence = "; ".join(
        f"longest to {name}: {label} ({seconds[name][label]:.2f} s)" for name, label in slowest.items()
    )
    note = "Medians of all folds; times on another machine, or in another run, differ."
    drawn = figure("Seconds on a fold", f"{sentence[:1].upper()}{sentence[1:]}. {note}", _chart(seconds))
    return Section("timing", "Timing", [drawn])


def _powers(values: pd.Series) -> list[float]:
    """The powers of ten from below the least value to above the greatest."""
    first, last = math.floor(math.log10(values.min())), math.ceil(math.log10(values.max()))
    return [10.0**power for power in range(first, last + 1)]


def _chart(seconds: pd.DataFrame) -> alt.TopLevelMixin:
    from repro.reports.charts.library import alt

    data = seconds.rename_axis("system").reset_index().melt("system", var_name="step", value_name="seconds")
    data["drawn"] = data["seconds"].clip(lower=_LEAST)
    steps = list(seconds.columns)
    legend = alt.Legend(title=None, orient="top")
    return (
        alt.Chart(data, height=20 * len(seconds))
        .mark_point(filled=True, size=65, opacity=0.9)
        .encode(
            x=alt.X(
                "drawn:Q",
                title="seconds",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format="~g", values=_powers(data["drawn"])),
            ),
            y=alt.Y("system:N", title=None, scale=alt.Scale(domain=list(seconds.index)), axis=alt.Axis(grid=True)),
            color=alt.Color("step:N", scale=alt.Scale(domain=steps, range=list(SCREEN_COLOURS[:2])), legend=legend),
            shape=alt.Shape("step:N", scale=alt.Scale(domain=steps, range=["circle", "diamond"]), legend=legend),
            tooltip=[
                alt.Tooltip("system:N", title="algorithm"),
                alt.Tooltip("step:N"),
                alt.Tooltip("seconds:Q", format=".3f"),
            ],
        )
    )
