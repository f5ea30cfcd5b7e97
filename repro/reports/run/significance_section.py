"""The matrix of significant differences between all pairs of algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from repro.reports.charts import short_names
from repro.reports.run.run_view import RunView, Tested, written_p
from repro.reports.run.sections import Section, figure
from repro.text import plural

if TYPE_CHECKING:
    import altair as alt

TITLE = "Significant differences"
_SHOWN = 30  # systems in the matrix


def matrix_section(view: RunView) -> Section:
    """The matrix of all pairs, by the main metric."""
    tested = view.tested.get(view.main_metric)
    if tested is None or tested.pairs < 1:
        reason = view.untested and f"Nothing is tested: {view.untested}."
        reason = reason or "There are no two algorithms with values of each user, so no pair can be tested."
        return Section("significance", TITLE, [reason])
    shown = [label for label in view.leaders(view.main_metric, _SHOWN) if label in tested.p.index]
    assert tested.compared is not None
    differ = int(tested.compared.comparison.pairs["significant"].sum())
    sentence = f"{differ:,} of {plural(tested.pairs, 'pair')} differ by {tested.metric} ({tested.description})."
    if len(shown) < len(tested.p):
        sentence += f" Shown are the {len(shown)} best; `repro compare` prints all."
    sentence += " The number of a column is that of the row with the same algorithm."
    drawn = figure(f"All pairs by {tested.metric}", sentence, _matrix(tested, shown))
    return Section("significance", TITLE, [drawn])


def _matrix(tested: Tested, shown: list[str]) -> alt.TopLevelMixin:
    """A triangle: the row is the worse of two systems, the column, by its number, the better one.

    The shades of grey are not colours of frameworks.
    """
    from repro.reports.charts.library import alt

    numbered = {label: f"{name}  {place}" for place, (label, name) in enumerate(short_names(shown).items(), 1)}
    rows = []
    for place, column in enumerate(shown, 1):
        for row in shown[place:]:
            p = float(tested.p[column][row])
            rows.append((numbered[row], place, row, column, _verdict(p, tested.level), written_p(p)))
    data = pd.DataFrame(rows, columns=["row", "place", "system", "better", "verdict", "p"])
    verdicts = [_verdict(0.0, 1), _verdict(tested.level / 2, tested.level), _verdict(1.0, tested.level)]
    size = 26 if len(shown) <= 16 else 18
    base = alt.Chart(data, height=size * len(shown)).encode(
        x=alt.X("place:O", title=None, axis=alt.Axis(labelAngle=0, labelOverlap=True, grid=False, orient="top")),
        y=alt.Y("row:N", title=None, scale=alt.Scale(domain=list(numbered.values())), axis=alt.Axis(grid=False)),
        tooltip=[alt.Tooltip("system:N"), alt.Tooltip("better:N", title="and"), "verdict:N", alt.Tooltip("p:N")],
    )
    cells = base.mark_rect(stroke="#888888", strokeWidth=0.5).encode(
        color=alt.Color(
            "verdict:N",
            title=None,
            scale=alt.Scale(domain=verdicts, range=["#4D4D4D", "#999999", "#88888833"]),
            legend=alt.Legend(orient="top", columns=1),
        )
    )
    marks = base.transform_filter(f"datum.verdict === '{verdicts[-1]}'").mark_text(
        text="≈", fontSize=12, color="#222222"
    )
    return alt.layer(cells, marks)


def _verdict(p: float, level: float) -> str:
    if p <= 0.001:
        return "differ, p ≤ 0.001"
    return f"differ, p ≤ {level:g}" if p <= level else "≈ no difference shown"
