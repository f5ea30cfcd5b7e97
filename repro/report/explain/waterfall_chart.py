"""A gap as a waterfall: from one number to the other, decision by decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from repro.explain import Explanation
from repro.report.charts import COLOURS

if TYPE_CHECKING:
    import altair as alt

_ENDS, _UP, _DOWN = COLOURS[7], COLOURS[0], COLOURS[1]
WIDTH, STEP = 420, 24


def steps(explanation: Explanation, place: int) -> pd.DataFrame:
    """The bars of one algorithm: what each is called, where it begins and ends, and what it adds."""
    level = float(explanation.before[place])
    rows = [{"step": explanation.first, "from": 0.0, "to": level, "value": level, "kind": "end"}]
    for part in sorted(explanation.contributions, key=lambda part: -abs(float(part.values[place]))):
        value = float(part.values[place])
        kind = "higher" if value >= 0 else "lower"
        rows.append({"step": part.name, "from": level, "to": level + value, "value": value, "kind": kind})
        level += value
    after = float(explanation.after[place])
    rows.append({"step": explanation.second, "from": 0.0, "to": after, "value": after, "kind": "end"})
    return pd.DataFrame(rows)


def waterfall(*gaps: Explanation) -> alt.VConcatChart:
    """One waterfall for each algorithm and gap, one below the other."""
    import altair as alt

    drawn = [_of_algorithm(explanation, place) for explanation in gaps for place in range(len(explanation.algorithms))]
    one_metric = len({explanation.metric for explanation in gaps}) == 1
    return alt.vconcat(*drawn).resolve_scale(color="shared", x="shared" if one_metric else "independent")


def _of_algorithm(explanation: Explanation, place: int) -> alt.LayerChart:
    import altair as alt

    bars = steps(explanation, place)
    bars["label"] = [f"{row.value:.4f}" if row.kind == "end" else f"{row.value:+.4f}" for row in bars.itertuples()]
    bars["edge"] = bars[["from", "to"]].max(axis=1)
    base = alt.Chart(bars).encode(y=alt.Y("step:N", sort=None, title=None, axis=alt.Axis(labelLimit=320)))
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=["end", "higher", "lower"], range=[_ENDS, _UP, _DOWN]),
        legend=None,
    )
    drawn = base.mark_bar(height=STEP * 0.6).encode(
        x=alt.X("from:Q", title=explanation.metric), x2="to:Q", color=colour
    )
    numbers = base.mark_text(align="left", dx=4, fontSize=11).encode(x="edge:Q", text="label:N")
    return (drawn + numbers).properties(title=explanation.algorithms[place], width=WIDTH, height=STEP * len(bars))
