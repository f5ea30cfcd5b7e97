"""Which differences are more than chance: every pair tested on the same users, and a matrix of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repro.report.run.sections import Section, figure
from repro.runs.comparison import Compared
from repro.stats import LEVEL
from repro.text import plural

if TYPE_CHECKING:
    import altair as alt

    from repro.report.run.material import Material

_SHOWN = 30  # systems in the matrix


@dataclass(frozen=True, eq=False)
class Tested:
    """One metric, all pairs, as :mod:`repro.runs.comparison` has them.

    values   users x systems
    best     the system with the best value in the table of the run
    p        systems x systems: corrected for the number of pairs; not a number on the diagonal
    against  a row for each other system, in the order of ``values``: its difference to the best one
    """

    metric: str
    better: str
    values: pd.DataFrame
    best: str
    compared: Compared | None

    @cached_property
    def p(self) -> pd.DataFrame:
        systems = list(self.values.columns)
        table = pd.DataFrame(np.nan, index=systems, columns=systems)
        if self.compared is not None:
            for a, b, p in self.compared.comparison.pairs[["a", "b", "p_corrected"]].itertuples(index=False):
                table.loc[a, b] = table.loc[b, a] = p
        return table

    @cached_property
    def against(self) -> pd.DataFrame:
        if self.compared is None:
            return pd.DataFrame()
        return self.compared.comparison.against(self.best).loc[[s for s in self.values.columns if s != self.best]]

    @property
    def level(self) -> float:
        return self.compared.comparison.settings.level if self.compared else LEVEL

    @property
    def pairs(self) -> int:
        """How many pairs p is corrected for."""
        return len(self.compared.comparison.pairs) if self.compared else 0

    @property
    def cautions(self) -> tuple[str, ...]:
        """Where its intervals and tests are weak."""
        return self.compared.cautions if self.compared else ()

    def differs(self, label: str) -> bool:
        """Whether the difference of a system to the best one is more than chance."""
        return label in self.against.index and bool(self.against.loc[label, "significant"])

    @property
    def stated(self) -> str:
        """The test, the family of comparisons, the correction and the level, in words."""
        if self.compared is None:
            return "nothing to test"
        return f"{self.compared.comparison.stated}; on each user's {self.metric}, {len(self.values):,} users"


def written_p(p: float) -> str:
    """A p-value as text."""
    if p != p:
        return "not tested"
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def matrix_section(run: Material) -> Section:
    """The matrix of all pairs, by the first metric."""
    tested = run.tested.get(run.first)
    if tested is None or tested.pairs < 1:
        why = "There are no two algorithms with values of each user, so no pair can be tested."
        return Section("significance", "Which differences are more than chance", [why])
    shown = [label for label in run.leaders(run.first, _SHOWN) if label in tested.p.index]
    assert tested.compared is not None
    differ = int(tested.compared.comparison.pairs["significant"].sum())
    sentence = f"{differ:,} of {plural(tested.pairs, 'pair')} differ by {tested.metric} ({tested.stated})."
    if len(shown) < len(tested.p):
        sentence += f" Shown are the {len(shown)} best; `repro compare` prints all."
    drawn = figure(f"All pairs by {tested.metric}", sentence, _matrix(tested, shown))
    return Section("significance", "Which differences are more than chance", [drawn])


def _matrix(tested: Tested, shown: list[str]) -> alt.TopLevelMixin:
    """The better of two systems is the row: lower left, whether they differ."""
    import altair as alt

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
