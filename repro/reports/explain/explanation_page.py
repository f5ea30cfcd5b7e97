"""The page of an explained gap, with a waterfall chart: from one number to the other, decision by decision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from markupsafe import Markup

from repro.data.spreadsheet import frame_csv
from repro.explanations import Explanation
from repro.reports.charts import COLOURS
from repro.reports.html import Heading, Paragraph, Table, figure, page
from repro.runs.written_files import keep_files

if TYPE_CHECKING:
    import altair as alt

REPORT = "report.html"
_ENDS, _UP, _DOWN = COLOURS[7], COLOURS[0], COLOURS[1]
WIDTH, STEP = 420, 24


def write_explanation(explanations: Sequence[Explanation], folder: Path, title: str, run: Path | None = None) -> Path:
    """Write ``explanation.csv``, ``explanation.json`` and ``report.html`` into ``folder``; returns the report's path.

    The journal written with them is that of the ``run`` that was explained, with their digests.
    """
    plain = json.dumps([explanation.to_dict() for explanation in explanations], indent=1, ensure_ascii=False)
    frames = [
        explanation.to_frame().assign(first=explanation.first, second=explanation.second, metric=explanation.metric)
        for explanation in explanations
    ]
    blocks = [Heading(title, level=1), *(block for explanation in explanations for block in _explanation(explanation))]
    files = {
        "explanation.json": (plain + "\n").encode(),
        "explanation.csv": frame_csv(pd.concat(frames, ignore_index=True)),
        REPORT: page(title, blocks).encode(),
    }
    keep_files(folder, files, run=run)
    return folder / REPORT


def _explanation(explanation: Explanation) -> list[object]:
    how = (
        "all orders of switching"
        if explanation.orders is None
        else f"{explanation.orders:,} sampled orders of switching"
    )
    labels = list(explanation.algorithms)
    rows = [[explanation.first, *(f"{value:.4f}" for value in explanation.before)]]
    for part in sorted(explanation.contributions, key=lambda part: -float(np.abs(part.values).sum())):
        values = [_part(value, error) for value, error in zip(part.values, part.errors, strict=True)]
        rows.append([part.sentence, *values])
    rows.append([explanation.second, *(f"{value:.4f}" for value in explanation.after)])
    blocks: list[object] = [
        Heading(f"From {explanation.first} to {explanation.second}, by {explanation.metric}"),
        Table(["", *labels], rows, labels),
        figure(
            "Where the gap comes from",
            f"Averages over {how}; grey are the numbers at both ends.",
            waterfall(explanation),
        ),
    ]
    if notable := explanation.notable():
        rows = [[label, decision, other, f"{value:+.4f}"] for label, decision, other, value in notable]
        header = ["algorithm", "decision", "and", "more than their sum"]
        blocks += ["Decisions that change the effect of another one:", Table(header, rows, header[-1:])]
    if explanation.needs_refit:
        names = ", ".join(change.decision for change in explanation.needs_refit)
        text = Markup("Not accounted for, as they need another fit (<code>--refit</code>): {}.").format(names)
        blocks.append(Paragraph(text))
    return [*blocks, *explanation.notes, Table(["", ""], explanation.evidence.items())]


def _part(value: float, error: float) -> str:
    return f"{value:+.4f}" + (f" ± {error:.4f}" if error else "")


def _steps(explanation: Explanation, column: int) -> pd.DataFrame:
    """The bars of one algorithm, with their names, ends and values."""
    level = float(explanation.before[column])
    rows = [{"step": explanation.first, "from": 0.0, "to": level, "value": level, "kind": "end"}]
    for part in sorted(explanation.contributions, key=lambda part: -abs(float(part.values[column]))):
        value = float(part.values[column])
        kind = "higher" if value >= 0 else "lower"
        rows.append({"step": part.name, "from": level, "to": level + value, "value": value, "kind": kind})
        level += value
    after = float(explanation.after[column])
    rows.append({"step": explanation.second, "from": 0.0, "to": after, "value": after, "kind": "end"})
    return pd.DataFrame(rows)


def waterfall(*gaps: Explanation) -> alt.VConcatChart:
    """A waterfall for each algorithm and gap, one below the other."""
    from repro.reports.charts.library import alt

    charts = [_waterfall(gap, column) for gap in gaps for column in range(len(gap.algorithms))]
    one_metric = len({explanation.metric for explanation in gaps}) == 1
    return alt.vconcat(*charts).resolve_scale(color="shared", x="shared" if one_metric else "independent")


def _waterfall(explanation: Explanation, column: int) -> alt.LayerChart:
    from repro.reports.charts.library import alt

    bars = _steps(explanation, column)
    bars["label"] = [f"{row.value:.4f}" if row.kind == "end" else f"{row.value:+.4f}" for row in bars.itertuples()]
    bars["edge"] = bars[["from", "to"]].max(axis=1)
    base = alt.Chart(bars).encode(y=alt.Y("step:N", sort=None, title=None, axis=alt.Axis(labelLimit=320)))
    colours = alt.Scale(domain=["end", "higher", "lower"], range=[_ENDS, _UP, _DOWN])
    colour = alt.Color("kind:N", scale=colours, legend=None)
    drawn = base.mark_bar(height=STEP * 0.6).encode(
        x=alt.X("from:Q", title=explanation.metric), x2="to:Q", color=colour
    )
    numbers = base.mark_text(align="left", dx=4, fontSize=11).encode(x="edge:Q", text="label:N")
    return (drawn + numbers).properties(title=explanation.algorithms[column], width=WIDTH, height=STEP * len(bars))
