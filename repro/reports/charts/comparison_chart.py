"""Charts of a comparison: the difference of each pair with its interval, or average ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from repro.reports.charts import COLOURS

if TYPE_CHECKING:
    import altair as alt

    from repro.stats import Comparison

_DIFFERENCE, _NO_DIFFERENCE = "difference", "no difference shown"


def comparison_chart(compared: Comparison, metric: str) -> alt.TopLevelMixin:
    """Average ranks for Nemenyi's test, which compares them; otherwise differences with their intervals."""
    if compared.settings.test == "nemenyi" and compared.friedman is not None:
        return rank_chart(compared, metric)
    return difference_chart(compared, metric)


def difference_chart(compared: Comparison, metric: str) -> alt.TopLevelMixin:
    """One row for each pair, as in the table: the difference in means and its confidence interval."""
    from repro.reports.charts.library import alt

    pairs = compared.pairs
    data = pd.DataFrame(
        {
            "pair": pairs["a"] + " − " + pairs["b"],
            "difference": pairs["difference"],
            "low": pairs["low"],
            "high": pairs["high"],
            "verdict": [_DIFFERENCE if significant else _NO_DIFFERENCE for significant in pairs["significant"]],
        }
    )
    level = compared.settings.level
    scale = alt.Scale(domain=[_DIFFERENCE, _NO_DIFFERENCE], range=[COLOURS[0], COLOURS[-1]])
    base = alt.Chart(data).encode(
        y=alt.Y("pair:N", sort=None, title=None, axis=alt.Axis(labelLimit=0)),
        color=alt.Color("verdict:N", title=f"p corrected ≤ {level:g}", scale=scale),
    )
    title = f"difference in {metric}, with {100 * (1 - level):g}% intervals"
    spans = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    points = base.mark_point(filled=True, size=60).encode(x="difference:Q")
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(strokeDash=[4, 3], color="#222222").encode(x="zero:Q")
    return alt.layer(zero, spans, points)


def rank_chart(compared: Comparison, metric: str) -> alt.TopLevelMixin:
    """Average ranks, the best first, each with half the critical difference to both sides.

    Two systems whose bars do not overlap differ by Nemenyi's test (Demšar 2006).
    """
    from repro.reports.charts.library import alt

    assert compared.friedman is not None
    half = compared.friedman.critical_difference(compared.settings.level) / 2
    ranks = pd.Series(compared.ranks).sort_values(kind="stable")
    data = pd.DataFrame(
        {
            "system": ranks.index,
            "rank": ranks.to_numpy(),
            "low": ranks.to_numpy() - half,
            "high": ranks.to_numpy() + half,
        }
    )
    title = f"average rank by {metric} (1 is best); bars that overlap: no difference shown (CD = {2 * half:.3g})"
    base = alt.Chart(data).encode(y=alt.Y("system:N", sort=None, title=None, axis=alt.Axis(labelLimit=0)))
    scale = alt.Scale(zero=False)
    bars = base.mark_rule(strokeWidth=6, opacity=0.4).encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q")
    points = base.mark_point(filled=True, size=60).encode(x="rank:Q")
    return alt.layer(bars, points)
