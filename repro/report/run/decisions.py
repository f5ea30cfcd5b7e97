"""What each decision touched, and all decisions of the protocol."""

from __future__ import annotations

import pandas as pd

from repro.report.pages import table
from repro.report.run.figures import section, wide
from repro.report.run.material import Material


def touched_section(run: Material) -> str:
    """Counts of what decisions changed, over all cells."""
    impacts = run.run.impacts()
    if impacts.empty:
        return section("touched", "What the decisions touched", ["<p>No decision touched anything.</p>"])
    return section("touched", "What the decisions touched", [wide(_impacts(impacts), "What the decisions touched")])


def _impacts(impacts: pd.DataFrame) -> str:
    rows = []
    keys = ["decision", "value", "unit", "note"]
    for (decision, value, unit, _), group in impacts.astype({"value": str}).groupby(keys, sort=False):
        least, most = group["touched"].min(), group["touched"].max()
        span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        rows.append([decision, value, span, f"{group['total'].max():,}", unit, group["note"].iloc[0], len(group)])
    header = ["decision", "value", "touched", "of", "unit", "note", "cells"]
    caption = "Of each decision: how much it touched, from the cell with least to the one with most"
    return table(header, rows, ["touched", "of", "cells"], caption)


def protocol_section(run: Material) -> str:
    """Every decision, what its value means, and who made it."""
    resolved = run.journal.events("decisions.resolved")[0]
    opened = set(resolved.left_open_by_source)
    rows = (
        [d.decision, d.value, d.meaning, d.origin + (" (left open by the source)" if d.decision in opened else "")]
        for d in resolved.decisions
    )
    caption = f"All {len(resolved.decisions)} decisions of the protocol {resolved.protocol}".rstrip()
    decisions = table(["decision", "value", "meaning", "origin"], rows, caption=caption)
    return section(
        "protocol",
        "Protocol",
        [f"<details><summary>{len(resolved.decisions)} decisions</summary>{wide(decisions, 'Protocol')}</details>"],
    )
