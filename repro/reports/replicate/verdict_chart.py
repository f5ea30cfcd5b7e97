"""The chart of a replication: printed and measured numbers, with their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from repro.errors import StudyError
from repro.replications import Replication
from repro.reports.charts import COLOURS
from repro.reports.charts.look import short_names

if TYPE_CHECKING:
    import altair as alt

WIDTH, STEP = 420, 22
# The verdicts on numbers, each with a colour and a shape of its own.
_STYLES: dict[str, tuple[str, str]] = {
    "exact": (COLOURS[2], "circle"),
    "within": (COLOURS[4], "square"),
    "underspecified": (COLOURS[5], "triangle-up"),
    "mistake": (COLOURS[0], "triangle-down"),
    "leak": (COLOURS[6], "triangle-right"),
    "differs": (COLOURS[1], "diamond"),
    "erratum": (COLOURS[3], "cross"),
}


def verdict_chart(replication: Replication) -> alt.VConcatChart:
    """The printed number (a line) and the measured one (a point) of each algorithm, one below the other by metric."""
    from repro.reports.charts.library import alt

    rows = [
        {
            "metric": " ".join(filter(None, (judgement.metric, judgement.under and f"({judgement.under})"))),
            "label": ", ".join([judgement.algorithm, *(f"{key} = {value}" for key, value in judgement.changes)]),
            "printed": judgement.printed.value,
            "text": judgement.printed.text,
            "measured": judgement.value,
            "verdict": judgement.verdict,
        }
        for judgement in replication.judgements
        if judgement.what == "cell" and judgement.printed is not None and judgement.values and not judgement.user
    ]
    if not rows:
        raise StudyError(f"{replication.name} has no printed number that was measured, so there is nothing to draw")
    table = pd.DataFrame(rows)
    table["label"] = table["label"].map(short_names(table["label"]))
    verdicts = [verdict for verdict in _STYLES if verdict in set(table["verdict"])]
    return alt.vconcat(*(_of_metric(group, str(name), verdicts) for name, group in table.groupby("metric", sort=False)))


def _of_metric(table: pd.DataFrame, metric: str, verdicts: Sequence[str]) -> alt.LayerChart:
    from repro.reports.charts.library import alt

    colours, shapes = zip(*(_STYLES[verdict] for verdict in verdicts), strict=True)
    base = alt.Chart(table).encode(y=alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=320)))
    tooltip = ["label:N", alt.Tooltip("text:N", title="printed"), "measured:Q", "verdict:N"]
    between = base.mark_rule(color="#7F7F7F").encode(
        x=alt.X("printed:Q", title=metric, scale=alt.Scale(zero=False)), x2="measured:Q"
    )
    printed = base.mark_tick(color="#222222", thickness=2, height=STEP * 0.7).encode(x="printed:Q", tooltip=tooltip)
    measured = base.mark_point(filled=True, size=60, opacity=1).encode(
        x="measured:Q",
        color=alt.Color("verdict:N", scale=alt.Scale(domain=verdicts, range=colours)),
        shape=alt.Shape("verdict:N", scale=alt.Scale(domain=verdicts, range=shapes)),
        tooltip=tooltip,
    )
    title = alt.Title(metric, subtitle="lines: printed; points: measured")
    return (between + printed + measured).properties(width=WIDTH, height=STEP * table["label"].nunique(), title=title)
