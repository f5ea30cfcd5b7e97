"""The tables of a run as CSV files, for spreadsheets and other languages."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from repro.data.spreadsheet import frame_csv
from repro.runs.run import Run


def write_tables(run: Run, target: Path) -> None:
    """``results.csv``, ``per_user.csv``, ``impacts.csv``, ``decisions.csv``, ``seconds.csv`` and, of tuned runs,
    ``tuning.csv``."""
    tables = {
        "results": run.results,
        "per_user": run.per_user(),
        "impacts": run.impacts(),
        "decisions": _decisions(run),
        "seconds": run.seconds().reset_index(),
        "tuning": run.tuning(),
    }
    target.mkdir()
    for name, table in tables.items():
        if name != "tuning" or len(table):
            (target / f"{name}.csv").write_bytes(frame_csv(table))


def _decisions(run: Run) -> pd.DataFrame:
    """A row for each decision in effect: value, meaning, origin, and whether the protocol's source leaves it open."""
    left_open = set(run.resolved.left_open_by_source)
    rows = [entry.model_dump() | {"left_open": entry.decision in left_open} for entry in run.resolved.decisions]
    return pd.DataFrame(rows)[["decision", "value", "meaning", "origin", "left_open"]]
