"""Gains over the baseline that the study names."""

from __future__ import annotations

from repro.reports.charts.dot_chart import Dots, System, dots
from repro.reports.html import Cell, Details, Table, number
from repro.reports.run.gains import Gains
from repro.reports.run.run_view import RunView, written_p
from repro.reports.run.sections import figure


def baseline_sentences(view: RunView, baseline: str) -> list[str]:
    """A paragraph for each headline metric: who gains, who loses, and for whom no difference is shown."""
    return [_sentence(view, metric, baseline) for metric in view.headlines]


def _sentence(view: RunView, metric: str, baseline: str) -> str:
    gains = view.gains(metric)
    value = float(view.values[metric][baseline])
    if gains is None:
        why = f"the baseline {baseline} has no value" if value != value else "no other algorithm has a value"
        return f"By {metric}, there are no gains: {why}."
    sets = {
        "gain": [label for label in gains.rows if gains.verdict(label) == "gain"],
        "loss": [label for label in gains.rows if gains.verdict(label) == "loss"],
        "none": [label for label in gains.rows if gains.verdict(label) == "none"],
    }
    sentence = f"By {metric}, the baseline {baseline} has {number(value)}. "
    if not gains.is_tested:
        listed = ", ".join(_by(gains, label) for label in gains.rows)
        return f"{sentence}Differences: {listed} ({gains.description})."
    total = len(gains.rows)
    parts = [f"{_count(sets['gain'], total)} better than the baseline{_listed(gains, sets['gain'])}"]
    parts += [f"{len(sets['loss'])} worse{_listed(gains, sets['loss'])}"] if sets["loss"] else []
    parts += [f"no difference is shown for {view.names(sets['none'])}"] if sets["none"] else []
    return f"{sentence}{'; '.join(parts)} ({gains.description})."


def _count(labels: list[str], total: int) -> str:
    if not labels:
        return "No algorithm is"
    return f"{len(labels)} of {total} algorithms {'is' if len(labels) == 1 else 'are'}"


def _listed(gains: Gains, labels: list[str]) -> str:
    return f": {', '.join(_by(gains, label) for label in labels)}" if labels else ""


def _by(gains: Gains, label: str) -> str:
    """An algorithm with its difference to the baseline, also as a share of the value of the baseline."""
    row = gains.rows[label]
    share = f", {row.relative:+.1%}" if row.relative == row.relative else ""
    return f"{label} ({row.difference:+.4f}{share})"


def baseline_blocks(view: RunView, baseline: str) -> list[object]:
    """A chart of the gains by each headline metric, their table, and the tables of other metrics, folded."""
    blocks: list[object] = []
    for metric in view.headlines:
        gains = view.gains(metric)
        if gains is not None:
            blocks += _figure(view, gains, baseline)
            blocks.append(_table(gains, baseline))
    others = [gains for metric in view.better if metric not in view.headlines and (gains := view.gains(metric))]
    if others:
        blocks.append(Details("Gains by the other metrics", [_table(gains, baseline) for gains in others]))
    return blocks


def _figure(view: RunView, gains: Gains, baseline: str) -> list[object]:
    """The differences to the baseline, with their intervals."""
    rows = [System(row.label, row.label, row.framework) for row in view.systems if row.label in gains.rows]
    values = {label: row.difference for label, row in gains.rows.items()}
    intervals = {label: (row.low, row.high) for label, row in gains.rows.items() if row.low == row.low}
    chart = dots(Dots(f"difference in {gains.metric}", values, intervals, reference=0.0), rows, view.frameworks)
    if chart is None:
        return []
    side = {"higher": "Right of the line is better.", "lower": "Left of the line is better."}.get(gains.better, "")
    lines = " Lines are 95% intervals of the mean difference over users." if intervals else ""
    return [figure(f"{gains.metric} minus that of {baseline}", f"{side}{lines}".strip(), chart)]


def _table(gains: Gains, baseline: str) -> Table:
    header = ["algorithm", "difference", "in %", "95% interval", "p", "verdict"]
    rows = []
    for label, row in gains.rows.items():
        share = f"{row.relative:+.1%}" if row.relative == row.relative else "–"
        interval = f"{row.low:+.4f} to {row.high:+.4f}" if row.low == row.low else "–"
        cells = [f"{row.difference:+.4f}", share, interval, written_p(row.p), row.verdict]
        rows.append([Cell(label, is_header=True), *cells])
    caption = f"{gains.metric} of each algorithm minus that of {baseline}; {gains.description}"
    return Table(header, rows, header[1:-1], caption, f"Gains by {gains.metric}")
