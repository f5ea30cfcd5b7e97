"""The figures of a multiverse: the specification curve, and how numbers spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repro.explain.multiverse import Universe
from repro.report.charts import COLOURS

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT, ROW = 760, 260, 13
DRAWN = 400  # variants beyond which the curve is drawn of evenly spaced ones
SHOWN = 10  # decisions below the curve


def specification_curve(universe: Universe) -> alt.VConcatChart:
    """All variants in the order of the best algorithm's number under the study's protocol; below, their choices.

    Only the decisions that move numbers most are below the curve.
    """
    import altair as alt

    values = universe.values
    of = _leader(universe)
    defined = np.flatnonzero(np.isfinite(values[:, of]))
    order = defined[np.argsort(values[defined, of], kind="stable")]
    if len(order) > DRAWN:
        order = order[np.unique(np.linspace(0, len(order) - 1, DRAWN).round().astype(int))]
    labels = universe.multiverse.algorithms
    curve = pd.DataFrame(
        {
            "place": np.tile(np.arange(len(order)), len(labels)),
            "algorithm": np.repeat(labels, len(order)),
            "value": values[order].T.reshape(-1),
        }
    ).dropna()
    x = alt.X(
        "place:Q",
        axis=None,
        scale=alt.Scale(domain=[-1, len(order)], nice=False),
    )
    colour = alt.Color("algorithm:N", sort=list(labels), scale=alt.Scale(range=list(COLOURS)), title=None)
    above = (
        alt.Chart(curve)
        .mark_circle(size=12, opacity=0.8)
        .encode(x=x, y=alt.Y("value:Q", title=universe.metric), color=colour)
        .properties(width=WIDTH, height=HEIGHT)
    )
    choices = _choices(universe, order)
    below = (
        alt.Chart(choices)
        .mark_tick(thickness=1, size=ROW - 3, color="#222222")
        .encode(x=x, y=alt.Y("choice:N", sort=None, title=None, axis=alt.Axis(labelLimit=320, labelFontSize=10)))
        .properties(width=WIDTH, height=ROW * choices["choice"].nunique())
    )
    return alt.vconcat(above, below, spacing=6)


def _leader(universe: Universe) -> int:
    """The best algorithm under the study's own protocol."""
    ranks = universe.orders[0]
    defined = np.isfinite(universe.values[0])
    return int(np.argmin(np.where(defined, ranks, len(ranks))))


def _choices(universe: Universe, order: np.ndarray) -> pd.DataFrame:
    ranked = universe.decisions()
    moved = ranked[ranked["pairs"] > 0].sort_values("moves", ascending=False)["decision"].head(SHOWN)
    rows = []
    for decision in moved:
        axis = next(axis for axis in universe.multiverse.axes if axis.decision == decision)
        for value in axis.values:
            for place, number in enumerate(order.tolist()):
                if universe.multiverse.variants[number].choices[decision] == value:
                    rows.append({"place": place, "choice": f"{decision} = {value}"})
    return pd.DataFrame(rows, columns=["place", "choice"])


def spread_chart(universe: Universe) -> alt.LayerChart:
    """For each algorithm the range, the quartiles and the median of all variants, and its number in the study."""
    import altair as alt

    spread = universe.spread()
    base = alt.Chart(spread).encode(y=alt.Y("algorithm:N", sort=None, title=None))
    whiskers = base.mark_rule(color="#7F7F7F").encode(x=alt.X("min:Q", title=universe.metric), x2="max:Q")
    box = base.mark_bar(height=10, color=COLOURS[4]).encode(x="q1:Q", x2="q3:Q")
    median = base.mark_tick(color="#222222", thickness=2, size=14).encode(x="median:Q")
    own = base.mark_point(color=COLOURS[1], size=70, shape="diamond", filled=True).encode(x="own:Q")
    return (whiskers + box + median + own).properties(width=560, height=26 * len(spread))
