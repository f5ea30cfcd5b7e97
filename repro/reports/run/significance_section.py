"""The matrix of significant differences between all pairs of algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

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
    drawn = figure(f"All pairs by {tested.metric}", sentence, _matrix(tested, shown))
    return Section("significance", TITLE, [drawn])


def _matrix(tested: Tested, shown: list[str]) -> alt.TopLevelMixin:
    """A triangle: the row is the worse of two systems, the colour the verdict."""
    from repro.reports.charts.library import alt

    rows = []
    for below, column in enumerate(shown):
        for row in shown[below + 1 :]:
            p = float(tested.p[column][row])
            rows.append((row, column, _verdict(p, tested.level), written_p(p)))
    data = pd.DataFrame(rows, columns=["row", "column", "verdict", "p"])
    verdicts = [_verdict(0.0, 1), _verdict(tested.level / 2, tested.level), _verdict(1.0, tested.level)]
    size = 26 if len(shown) <= 16 else 18
    base = alt.Chart(data, height=size * (len(shown) - 1)).encode(
        x=alt.X("column:N", title=None, scale=alt.Scale(domain=shown[:-1]), axis=alt.Axis(labelAngle=-90, grid=False)),
        y=alt.Y("row:N", title=None, scale=alt.Scale(domain=shown[1:]), axis=alt.Axis(grid=False)),
        tooltip=[alt.Tooltip("row:N"), alt.Tooltip("column:N", title="and"), "verdict:N", alt.Tooltip("p:N")],
    )
    cells = base.mark_rect(stroke="#888888", strokeWidth=0.5).encode(
        color=alt.Color(
            "verdict:N",
            title=None,
            scale=alt.Scale(domain=verdicts, range=["#0072B2", "#56B4E9", "#88888833"]),
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
