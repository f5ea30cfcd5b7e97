"""The time that frameworks took."""

from __future__ import annotations

import math

import pandas as pd

from repro.reports.charts.dot_chart import Dots, dots
from repro.reports.html import Cell, Details, Grid, Table
from repro.reports.run.run_view import RunView
from repro.reports.run.sections import NARROW, Section, figure

_LEAST = 0.001  # seconds; shorter times are drawn here, as clocks are not that precise


def timing_section(view: RunView) -> Section | None:
    """Seconds to fit and to score, on a scale of powers of ten, and as a table."""
    seconds = view.seconds.loc[[row.label for row in view.systems]]
    if seconds.empty:
        return None
    charts = []
    for step in seconds.columns:
        drawn = seconds[step].clip(lower=_LEAST)
        chart = dots(Dots("seconds", dict(drawn), powers=_powers(drawn)), view.systems, view.frameworks)
        if chart is not None:
            slowest = str(seconds[step].idxmax())
            sentence = f"Longest: {slowest} ({seconds[step][slowest]:.2f} s)."
            charts.append(figure(f"Seconds to {step} a fold", sentence, chart, NARROW))
    at_a_time = f", with {view.started.workers} cells at a time" if view.started.workers > 1 else ""
    note = f"Medians of all folds{at_a_time}; times on another machine, or in another run, differ."
    return Section("timing", "Timing", [note, Grid(charts), Details("The same as a table", [_table(seconds)])])


def _powers(values: pd.Series) -> list[float]:
    """The powers of ten from below the least value to above the greatest."""
    first, last = math.floor(math.log10(values.min())), math.ceil(math.log10(values.max()))
    return [10.0**power for power in range(first, last + 1)]


def _table(seconds: pd.DataFrame) -> Table:
    header = ["algorithm", *(f"{step} (s)" for step in seconds.columns)]
    rows = (
        [Cell(str(label), is_header=True), *(f"{value:.2f}" for value in row)]
        for label, row in zip(seconds.index, seconds.to_numpy(), strict=True)
    )
    return Table(header, rows, header[1:], "Seconds on a fold", "Seconds on a fold")
