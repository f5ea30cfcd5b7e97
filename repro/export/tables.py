"""The tables of a run as CSV files, for spreadsheets and other languages."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from repro.data.spreadsheet import frame_csv
from repro.export.record import RunRecord


def write_tables(folder: Path, target: Path) -> None:
    """``results.csv``, ``per_user.csv``, ``impacts.csv``, ``decisions.csv``, ``seconds.csv`` and, of tuned runs,
    ``tuning.csv``."""
    record = RunRecord.read(folder)
    results = record.results
    tables = {
        "results": results.long(),
        "per_user": results.per_user(),
        "impacts": results.impacts(),
        "decisions": _decisions(record),
        "seconds": results.seconds().reset_index(),
        "tuning": results.tuning(),
    }
    target.mkdir()
    for name, table in tables.items():
        if name != "tuning" or len(table):
            (target / f"{name}.csv").write_bytes(frame_csv(table))


def _decisions(record: RunRecord) -> pd.DataFrame:
    """One row for each decision in effect: its value, what that means, who made it, and whether the source of the
    protocol left it open."""
    opened = set(record.resolved.left_open_by_source)
    rows = [entry.model_dump() | {"left_open": entry.decision in opened} for entry in record.resolved.decisions]
    return pd.DataFrame(rows)[["decision", "value", "meaning", "origin", "left_open"]]
