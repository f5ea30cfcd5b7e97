"""The result of an explanation: the gap between two numbers, and the contribution of each decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.current import views
from repro.explanations.interpolate import Change

if TYPE_CHECKING:
    import altair as alt

THRESHOLD = 0.05  # the share of the gap above which an interaction is shown
_SHOWN = 30  # rows of the text
_NOISE = 1e-9  # smaller interactions are numerical noise

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contribution:
    """The contribution of one switch to the gap of each algorithm, with its standard error (0 if it is exact).

    changes     the decisions that are switched
    dependents  decisions that gain or lose their effect by the switch
    """

    name: str
    changes: tuple[Change, ...]
    dependents: tuple[Change, ...]
    values: Vector
    errors: Vector

    @property
    def sentence(self) -> str:
        """The switched decisions with their values before and after."""
        return (
            "; ".join(f"{change.decision}: {change.before} -> {change.after}" for change in self.changes) or self.name
        )


@dataclass(frozen=True, eq=False)
class Interaction:
    """The interaction of two switches for each algorithm, with its standard error.

    It is the additional effect of one switch after the other one.
    """

    first: str
    second: str
    values: Vector
    errors: Vector


@dataclass(frozen=True, eq=False)
class Explanation:
    """The gap between two numbers of each algorithm, attributed to decisions.

    before, after  the numbers of each algorithm at both ends; the contributions add up to their difference
    orders         the number of sampled orders of switching; None if all orders were used
    needs_refit    decisions that differ and have no contribution because they need a refit
    left_out       algorithms that have no number under some protocol between the two, with the reason
    notes          remarks
    evidence       the last journal lines of the runs, and the hashes of the protocols
    run            the folder of the first run
    """

    first: str
    second: str
    metric: str
    algorithms: tuple[str, ...]
    before: Vector
    after: Vector
    contributions: tuple[Contribution, ...]
    interactions: tuple[Interaction, ...]
    orders: int | None
    needs_refit: tuple[Change, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    question: str = ""
    evidence: Mapping[str, str] = field(default_factory=dict)
    run: Path | None = None

    @property
    def gap(self) -> Vector:
        return self.after - self.before

    def notable(self, threshold: float = THRESHOLD) -> list[tuple[str, str, str, float]]:
        """Interactions above a share of the gap: algorithm, both decisions, value; the largest first."""
        above = [
            (label, interaction.first, interaction.second, float(interaction.values[column]))
            for interaction in self.interactions
            for column, label in enumerate(self.algorithms)
            if abs(interaction.values[column]) > max(threshold * abs(self.gap[column]), _NOISE)
        ]
        return sorted(above, key=lambda interaction: -abs(interaction[3]))

    def plot(self) -> alt.TopLevelMixin:
        """A waterfall for each algorithm, from one number to the other, as an Altair chart."""
        return views().plot(self)

    def report(self, into: str | Path) -> Path:
        """Write ``report.html`` and tables into the folder ``into``; the path of the report."""
        return views().report(self, Path(into))

    def to_frame(self) -> pd.DataFrame:
        """A row for each algorithm and contribution: algorithm, decision, from, to, part, share of the gap, error."""
        rows = []
        for column, label in enumerate(self.algorithms):
            gap = float(self.gap[column])
            for contribution in self.contributions:
                value = float(contribution.values[column])
                rows.append(
                    {
                        "algorithm": label,
                        "decision": contribution.name,
                        "from": ", ".join(str(change.before) for change in contribution.changes),
                        "to": ", ".join(str(change.after) for change in contribution.changes),
                        "part": value,
                        "share": value / gap if gap else float("nan"),
                        "error": float(contribution.errors[column]),
                    }
                )
        return pd.DataFrame(rows)

    @property
    def _heading(self) -> str:
        exact = "all orders" if self.orders is None else f"{self.orders:,} sampled orders"
        return f"{self.metric}: from {self.first} to {self.second}, decision by decision (mean over {exact})"

    def _table(self) -> pd.DataFrame:
        """Both ends and the contributions between them: a column for each algorithm."""
        rows = {self.first: self.before}
        rows |= {contribution.sentence: contribution.values for contribution in self.contributions}
        frame = pd.DataFrame([*rows.values(), self.after], columns=list(self.algorithms))
        return frame.set_axis([*rows, self.second], axis=0)

    @property
    def _remarks(self) -> list[str]:
        refits = ", ".join(change.decision for change in self.needs_refit)
        left_out = [f"left out: {label} {reason}" for label, reason in self.left_out.items()]
        return [*left_out, *([f"not included, as they need another fit: {refits}"] if refits else []), *self.notes]

    def __repr__(self) -> str:
        table = self._table().to_string(max_rows=_SHOWN, max_cols=8, line_width=100, float_format="{:+.4f}".format)
        return "\n".join([self._heading, table, *self._remarks])

    def _repr_html_(self) -> str:
        table = self._table().to_html(max_rows=_SHOWN, max_cols=12, float_format="{:+.4f}".format)
        return f"<p><b>{escape(self._heading)}</b></p>{table}<p>{'<br>'.join(map(escape, self._remarks))}</p>"

    def to_dict(self) -> dict[str, object]:
        """All fields as JSON-compatible data."""
        return {
            "first": self.first,
            "second": self.second,
            "metric": self.metric,
            "orders": "all" if self.orders is None else self.orders,
            "algorithms": [
                {
                    "algorithm": label,
                    "before": float(self.before[column]),
                    "after": float(self.after[column]),
                    "gap": float(self.gap[column]),
                    "parts": [
                        {"decision": part.name, "part": float(part.values[column]), "error": float(part.errors[column])}
                        for part in self.contributions
                    ],
                    "interactions": [
                        {
                            "first": interaction.first,
                            "second": interaction.second,
                            "value": float(interaction.values[column]),
                            "error": float(interaction.errors[column]),
                        }
                        for interaction in self.interactions
                    ],
                }
                for column, label in enumerate(self.algorithms)
            ],
            "changes": [
                change.to_dict()
                for contribution in self.contributions
                for change in (*contribution.changes, *contribution.dependents)
            ],
            "needs_refit": [change.to_dict() for change in self.needs_refit],
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
            "evidence": dict(self.evidence),
        }
