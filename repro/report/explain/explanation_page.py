"""The page of an explained gap."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from markupsafe import Markup

from repro.data.spreadsheet import frame_csv
from repro.explain import Explanation
from repro.report.explain.waterfall_chart import waterfall
from repro.report.html import Heading, Paragraph, Table, figure, page
from repro.runs.written_files import keep_files

REPORT = "report.html"


def write_explanation(explanations: Sequence[Explanation], folder: Path, title: str, run: Path | None = None) -> Path:
    """Write ``explanation.csv``, ``explanation.json`` and ``report.html`` into ``folder``; the path of the report.

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
