"""The figures of a study of metrics: heat maps of correlations, robustness curves, p-value curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repro.metric_study import MetricStudy
from repro.reports.charts import COLOURS, DASHES, cycle_to
from repro.reports.metric_study.metric_study_summary import Compared

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 560, 320
# Curves of p-values end here: below it, they lie on the axis.
FLAT = 0.001


def correlations_between(study: MetricStudy, compared: Compared) -> pd.DataFrame:
    """The correlations between ``compared``, with their names (a, b) and their order (place_a, place_b)."""
    table = study.correlations
    names, places = curve_names(compared), {pair: place for place, pair in enumerate(compared)}
    for side in ("a", "b"):
        keys = zip(table[f"metric_{side}"], table[f"cutoff_{side}"], strict=True)
        table = table.assign(**{f"place_{side}": [places.get(key, -1) for key in keys]})
        table = table[table[f"place_{side}"] >= 0]
        table = table.assign(**{side: [names[place] for place in table[f"place_{side}"]]})
    return table.reset_index(drop=True)


def heat_map(correlations: pd.DataFrame) -> alt.LayerChart:
    """Kendall's tau of each pair, as a number and as a colour."""
    from repro.reports.charts.library import alt

    shown = correlations[["a", "b", "tau", "place_a", "place_b"]]
    order = list(dict.fromkeys(shown.sort_values("place_a")["a"]))
    low = float(np.floor(shown["tau"].min() * 10) / 10) if shown["tau"].notna().any() else 0.0
    base = alt.Chart(shown).encode(
        x=alt.X("b:N", sort=order, title=None, axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False)),
        y=alt.Y("a:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False)),
    )
    scale = alt.Scale(scheme="blues", domain=[min(low, 0.9), 1.0])
    cells = base.mark_rect(stroke="white").encode(
        color=alt.Color("tau:Q", scale=scale, legend=alt.Legend(title="Kendall's τ-b", gradientLength=160))
    )
    dark = f"datum.tau > {(min(low, 0.9) + 1.0) / 2}"
    numbers = base.mark_text(fontSize=11).encode(
        text=alt.Text("tau:Q", format=".2f"),
        color=alt.condition(dark, alt.value("white"), alt.value("#222222")),
    )
    return (cells + numbers).properties(width=48 * len(order), height=30 * len(order))


def sparsity_curves(study: MetricStudy, compared: Compared) -> alt.Chart:
    """Mean tau with the whole test set, over the share of remaining ratings."""
    title = "remaining ratings of the test set, at random (%)"
    return _robustness(study.sparsity, compared, title, reverse=True)


def popularity_curves(study: MetricStudy, compared: Compared) -> alt.Chart:
    """Tau with the whole test set, over the share of the most popular items whose ratings are removed."""
    return _robustness(study.popularity, compared, "most popular items removed (%)", reverse=False)


def _robustness(table: pd.DataFrame, compared: Compared, title: str, *, reverse: bool) -> alt.Chart:
    from repro.reports.charts.library import alt

    shown = _named(table, compared).assign(percent=lambda part: (part["share"] * 100).round(6))
    return (
        alt.Chart(shown[["percent", "tau", "curve"]])
        .mark_line(strokeWidth=1.8)
        .encode(
            x=alt.X("percent:Q", title=title, scale=alt.Scale(reverse=reverse, nice=False)),
            y=alt.Y("tau:Q", title="Kendall's τ-b with the whole test set", scale=alt.Scale(zero=False)),
            **_curves(compared),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )


def p_value_curves(study: MetricStudy, compared: Compared) -> alt.LayerChart:
    """The p-values of all pairs of systems, highest first, down to the axis."""
    from repro.reports.charts.library import alt

    shown = _named(study.pvalues, compared)
    shown = shown.sort_values(["place", "p"], ascending=[True, False], kind="stable")
    shown["pair"] = shown.groupby("place").cumcount() + 1
    last = int(shown.loc[shown["p"] > FLAT, "pair"].max()) if (shown["p"] > FLAT).any() else 1
    shown = shown[shown["pair"] <= last + 1]
    lines = (
        alt.Chart(shown[["pair", "p", "curve"]])
        .mark_line(strokeWidth=1.8)
        .encode(
            x=alt.X("pair:Q", title="pairs of systems, by decreasing p-value", scale=alt.Scale(nice=False)),
            y=alt.Y("p:Q", title="p-value", scale=alt.Scale(domain=[0, 1])),
            **_curves(compared),
        )
    )
    level = alt.Chart(pd.DataFrame({"p": [study.settings.level]})).mark_rule(stroke="#7F7F7F", strokeDash=[2, 2])
    return (level.encode(y="p:Q") + lines).properties(width=WIDTH, height=HEIGHT)


def _named(table: pd.DataFrame, compared: Compared) -> pd.DataFrame:
    """The rows of ``compared``; ``curve`` is the name of each in the legend."""
    names = curve_names(compared)
    places = {pair: place for place, pair in enumerate(compared)}
    keys = list(zip(table["metric"], table["cutoff"], strict=True))
    selected = table.assign(place=[places.get(key, -1) for key in keys])
    selected = selected[selected["place"] >= 0].sort_values("place", kind="stable")
    return selected.assign(curve=[names[place] for place in selected["place"]])


def curve_names(compared: Compared) -> list[str]:
    """Cut-offs if all are of one metric, else metrics."""
    one_metric = len({metric for metric, _ in compared}) == 1
    return [f"@{cutoff}" if one_metric else metric for metric, cutoff in compared]


def _curves(compared: Compared) -> dict[str, alt.Color | alt.StrokeDash]:
    """Metrics differ in colour and dash; cut-offs go from light to dark."""
    from repro.reports.charts.library import alt

    names = curve_names(compared)
    legend = alt.Legend(title=None, symbolType="stroke", symbolSize=400, symbolStrokeWidth=2)
    if len({metric for metric, _ in compared}) == 1:
        scale = alt.Scale(domain=names, scheme="cividis", reverse=True)
        return {"color": alt.Color("curve:O", sort=names, scale=scale, legend=legend)}
    colours, dashes = cycle_to(COLOURS, len(names)), cycle_to(DASHES, len(names))
    return {
        "color": alt.Color("curve:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        "strokeDash": alt.StrokeDash("curve:N", scale=alt.Scale(domain=names, range=dashes), legend=legend),
    }
