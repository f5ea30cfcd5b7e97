"""Precision-recall and ROC curves as charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from repro.reports.charts import COLOURS, DASHES, cycle_to

if TYPE_CHECKING:
    import altair as alt

_TITLES = {
    "recall": "recall",
    "precision": "precision",
    "fpr": "false positive rate",
    "tpr": "true positive rate",
}
_CHANCE, _PERFECT = "chance", "perfect"
_SIDE = 360


def curve_chart(table: pd.DataFrame, title: str = "") -> alt.Chart:
    """A chart of the curves of ``repro.curves``; a column ``curve`` names each of several.

    A ROC chart also has the diagonal of chance, and perfect curves if the table has them.
    """
    from repro.reports.charts.library import alt

    x, y = ("fpr", "tpr") if "fpr" in table.columns else ("recall", "precision")
    lines = _lines(table, x, y)
    names = list(dict.fromkeys(lines["curve"]))
    legend: Any = alt.Legend(title=None) if len(names) > 1 else None
    axis = alt.Scale(domain=[0, 1])
    chart = alt.Chart(lines, width=_SIDE, height=_SIDE)
    if title:
        chart = chart.properties(title=title)
    return chart.mark_line().encode(
        x=alt.X("x:Q", scale=axis, title=_TITLES[x]),
        y=alt.Y("y:Q", scale=axis, title=_TITLES[y]),
        order="point:Q",
        color=alt.Color(
            "curve:N", scale=alt.Scale(domain=names, range=_styles(names, COLOURS[:-1], COLOURS[-1])), legend=legend
        ),
        strokeDash=alt.StrokeDash(
            "curve:N", scale=alt.Scale(domain=names, range=_styles(names, DASHES, DASHES[2])), legend=legend
        ),
        tooltip=["curve:N", "x:Q", "y:Q"],
    )


def _lines(table: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """One row for each point of each line."""
    labels = table["curve"] if "curve" in table.columns else pd.Series("recommendations", index=table.index)
    parts = [_line(labels.to_numpy(), table[x].to_numpy(), table[y].to_numpy())]
    if f"perfect_{x}" in table.columns:
        suffix = (_PERFECT + " " + labels) if labels.nunique() > 1 else _PERFECT
        perfect = pd.Series(suffix, index=table.index)
        parts.append(_line(perfect.to_numpy(), table[f"perfect_{x}"].to_numpy(), table[f"perfect_{y}"].to_numpy()))
    if x == "fpr":
        parts.append(_line(_CHANCE, [0.0, 1.0], [0.0, 1.0]))
    lines = pd.concat(parts, ignore_index=True)
    lines["point"] = lines.index
    return lines


def _line(curve: Any, x: Any, y: Any) -> pd.DataFrame:
    return pd.DataFrame({"x": x, "y": y}).assign(curve=curve)


def _styles(names: list[str], styles: Sequence[Any], of_chance: Any) -> list[Any]:
    """A style for each curve; chance has its own."""
    cycled = cycle_to(styles, len(names))
    return [of_chance if name == _CHANCE else style for name, style in zip(names, cycled, strict=True)]
