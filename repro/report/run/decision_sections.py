"""The number of rows, lists or users that each decision affected, and all decisions of the protocol."""

from __future__ import annotations

import pandas as pd

from repro.report.html import Details, Table
from repro.report.run.material import Material
from repro.report.run.sections import Section


def touched_section(run: Material) -> Section:
    """Counts of what decisions changed, over all cells."""
    impacts = run.run.impacts()
    title = "What the decisions touched"
    return Section("touched", title, ["No decision touched anything." if impacts.empty else _impacts(impacts, title)])


def _impacts(impacts: pd.DataFrame, label: str) -> Table:
    rows = []
    keys = ["decision", "value", "unit", "note"]
    for (decision, value, unit, _), group in impacts.astype({"value": str}).groupby(keys, sort=False):
        least, most = group["touched"].min(), group["touched"].max()
        span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        rows.append([decision, value, span, f"{group['total'].max():,}", unit, group["note"].iloc[0], len(group)])
    header = ["decision", "value", "touched", "of", "unit", "note", "cells"]
    caption = "Of each decision: how much it touched, from the cell with least to the one with most"
    return Table(header, rows, ["touched", "of", "cells"], caption, label)


def protocol_section(run: Material) -> Section:
    """Every decision, what its value means, and who made it."""
    resolved = run.journal.events("decisions.resolved")[0]
    opened = set(resolved.left_open_by_source)
    rows = (
        [d.decision, d.value, d.meaning, d.origin + (" (left open by the source)" if d.decision in opened else "")]
        for d in resolved.decisions
    )
    caption = f"All {len(resolved.decisions)} decisions of the protocol {resolved.protocol}".rstrip()
    decisions = Table(["decision", "value", "meaning", "origin"], rows, caption=caption, label="Protocol")
    return Section("protocol", "Protocol", [Details(f"{len(resolved.decisions)} decisions", [decisions])])
