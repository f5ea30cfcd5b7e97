"""The tables of a run as CSV files, for spreadsheets and other languages."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from repro.data.spreadsheet import frame_csv
from repro.export.source import read_run
from repro.runs.run import Run


def write_tables(folder: Path, target: Path) -> None:
    """``results.csv``, ``per_user.csv``, ``impacts.csv``, ``decisions.csv``, ``seconds.csv`` and, of tuned runs,
    ``tuning.csv``."""
    run = read_run(folder)
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
    """One row for each decision in effect: its value, what that means, who made it, and whether the source of the
    protocol left it open."""
    opened = set(run.resolved.left_open_by_source)
    rows = [entry.model_dump() | {"left_open": entry.decision in opened} for entry in run.resolved.decisions]
    return pd.DataFrame(rows)[["decision", "value", "meaning", "origin", "left_open"]]
