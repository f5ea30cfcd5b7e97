"""Which differences are more than chance: every pair tested on the same users, and a matrix of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repro.data.interactions import FloatArray
from repro.report.pages import plural
from repro.report.run.figures import figure, section
from repro.stats import CORRECTIONS, TESTS, Settings, comparison, correct, paired_test

if TYPE_CHECKING:
    import altair as alt

    from repro.report.run.material import Material

# Closed form: no draws, and as good for hundreds of pairs as for one (Urbano, Lima & Hanjalic, SIGIR 2019).
TEST, CORRECTION, LEVEL = "t", "holm", 0.05
_SHOWN = 30  # systems in the matrix


@dataclass(frozen=True, eq=False)
class Tested:
    """One metric, all pairs.

    values   users x systems
    best     the system with the best value in the table of the run
    p        systems x systems: corrected for the number of pairs; not a number on the diagonal
    against  a row for each other system, in the order of ``values``: its difference to the best one, as
             :func:`repro.stats.compare` gives it
    """

    metric: str
    better: str
    values: pd.DataFrame
    best: str
    p: pd.DataFrame
    against: pd.DataFrame
    level: float = LEVEL

    @property
    def pairs(self) -> int:
        """How many pairs p is corrected for."""
        return len(self.p) * (len(self.p) - 1) // 2

    def differs(self, label: str) -> bool:
        """Whether the difference of a system to the best one is more than chance."""
        return bool(self.p[label].get(self.best, np.nan) <= self.level)

    @property
    def stated(self) -> str:
        """The test, the correction and the level, in words."""
        return (
            f"{TESTS[TEST].title} on each user's {self.metric} ({len(self.values):,} users), corrected for "
            f"{plural(self.pairs, 'pair')} by {CORRECTIONS[CORRECTION].title}, level {self.level:g}"
        )


def all_pairs(values: pd.DataFrame, metric: str, better: str, best: str) -> Tested:
    """Test all pairs of the columns of ``values`` (users x systems), each on the users that both have."""
    systems = list(values.columns)
    columns = values.to_numpy(dtype=np.float64).T
    pairs = list(combinations(range(len(systems)), 2))
    table = np.full((len(systems), len(systems)), np.nan)
    if pairs:
        first, second = np.array(pairs).T
        table[first, second] = correct([_p(columns[a], columns[b]) for a, b in pairs], CORRECTION)
        table[second, first] = table[first, second]
    p = pd.DataFrame(table, index=systems, columns=systems)
    against = pd.DataFrame()
    if pairs:
        settings = Settings(test=TEST, correct="none", baseline=best, better=better, level=LEVEL)
        against = comparison(values, settings).pairs.set_index("a").loc[[s for s in systems if s != best]]
        against["p_corrected"] = p[best]
    return Tested(metric, better, values, best, p, against)


def _p(a: FloatArray, b: FloatArray) -> float:
    """Of the users that both have."""
    both = ~(np.isnan(a) | np.isnan(b))
    return paired_test(TEST, a[both], b[both]).p


def written_p(p: float) -> str:
    """A p-value as text."""
    if p != p:
        return "not tested"
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def matrix_section(run: Material) -> str:
    """The matrix of all pairs, by the first metric."""
    one = run.tested.get(run.first)
    if one is None or one.pairs < 1:
        why = "There are no two algorithms with values of each user, so no pair can be tested."
        return section("significance", "Which differences are more than chance", [f"<p>{why}</p>"])
    shown = [label for label in run.leaders(run.first, _SHOWN) if label in one.p.index]
    differ = int((one.p.to_numpy()[np.triu_indices(len(one.p), 1)] <= one.level).sum())
    sentence = f"{differ:,} of {plural(one.pairs, 'pair')} differ by {one.metric} ({one.stated})."
    if len(shown) < len(one.p):
        sentence += f" Shown are the {len(shown)} best; `repro compare` prints all."
    drawn = figure(f"All pairs by {one.metric}", sentence, _matrix(one, shown))
    return section("significance", "Which differences are more than chance", [drawn])


def _matrix(one: Tested, shown: list[str]) -> alt.TopLevelMixin:
    """The better of two systems is the row: lower left, whether they differ."""
    import altair as alt

    rows = []
    for below, column in enumerate(shown):
        for row in shown[below + 1 :]:
            p = float(one.p[column][row])
            rows.append((row, column, _verdict(p, one.level), written_p(p)))
    data = pd.DataFrame(rows, columns=["row", "column", "verdict", "p"])
    verdicts = [_verdict(0.0, 1), _verdict(one.level / 2, one.level), _verdict(1.0, one.level)]
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
