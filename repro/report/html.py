"""The report of a run: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from repro.journal import Contents, read_journal
from repro.journal.events import RunStarted
from repro.report.dots import System, dots, legend, systems
from repro.report.pages import document, number, table
from repro.study import Results
from repro.study.folder import JOURNAL
from repro.study.per_user import FinishedRun, metric_names
from repro.study.reported import keep_report
from repro.study.tune import REFIT
from repro.study.tuned import TunedAlgorithm, uneven_tuning

STYLE = """
:root { color-scheme: light dark; --line: #8884; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 84rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; } td.best { font-weight: 700; }
th[scope=row] { white-space: nowrap; font-weight: 400; }
figure { margin: 0; display: inline-block; padding: 0 2rem 1rem 0; } figcaption { font-weight: 600; }
svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
.legend span { margin-right: 1.25rem; white-space: nowrap; } tr.first > * { border-top: 2px solid var(--line); }
svg line { stroke: var(--line); } code { overflow-wrap: anywhere; }
"""


def write_report(results: Results) -> Path:
    """Write ``report.html`` into the run folder; its path."""
    return keep_report(results.folder, "report.html", render(results).encode())


def render(results: Results) -> str:
    """The report as HTML: the answer first, then what each decision touched, then all that identifies the run."""
    journal = read_journal(results.folder / JOURNAL)
    began = journal.events("run.started")[0]
    title = began.question or "Study"
    values = results.table()
    measures = FinishedRun.read(results.folder).measures
    better = {metric_names(measures)[measure.full_name]: measure.metric.better for measure in measures}
    rows = systems(results.frameworks())
    body = [
        f"<h1>{escape(title)}</h1>",
        "<h2>Results</h2>",
        f'<div class="wide">{_result_table(values, results.seconds(), rows, better)}</div>',
        *_below_the_table(began),
        legend(rows),
        *(dots(metric, dict(values[metric]), rows, which) for metric, which in better.items()),
        *_tuning(results.tuned()),
        *_notes(journal),
        "<h2>What the decisions touched</h2>",
        f'<div class="wide">{_impacts(results.impacts())}</div>',
        "<h2>Protocol</h2>",
        f'<div class="wide">{_decisions(journal)}</div>',
        "<h2>Data, software, machine</h2>",
        f'<div class="wide">{_identity(journal)}</div>',
    ]
    return document(title, STYLE, body)


def _best(values: pd.DataFrame, better: Mapping[str, str]) -> dict[str, float]:
    """The best value of each metric; none where neither of two values is the better one, or all are the same."""
    return {
        name: float(values[name].min() if which == "lower" else values[name].max())
        for name, which in better.items()
        if which != "neither" and values[name].nunique() > 1
    }


def _result_table(
    values: pd.DataFrame, seconds: pd.DataFrame, rows: Sequence[System], better: Mapping[str, str]
) -> str:
    """The values of each algorithm; where several frameworks have it, with the name of the framework in between."""
    best = _best(values, better)
    several = any(row.framework for row in rows)
    numbers = [*better, *(f"{name} (s)" for name in seconds.columns)]
    head = "".join(
        f'<th scope="col">{name}</th>' for name in (["algorithm", "framework"] if several else ["algorithm"])
    )
    head += "".join(f'<th scope="col" class="number">{escape(str(name))}</th>' for name in numbers)
    lines = []
    above = ""
    for row in rows:
        names = [row.algorithm, row.framework] if several else [row.label]
        cells = "".join(f'<th scope="row">{escape(name)}</th>' for name in names)
        for metric in better:
            value = float(values[metric][row.label])
            cells += f'<td class="number{" best" if value == best.get(metric) else ""}">{number(value)}</td>'
        cells += "".join(f'<td class="number">{value:.2f}</td>' for value in seconds.loc[row.label])
        kind = ' class="first"' if several and row.algorithm != above else ""
        lines.append(f"<tr{kind}>{cells}</tr>")
        above = row.algorithm
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _below_the_table(began: RunStarted) -> list[str]:
    """What the times are, and what is not in the table although the study asks for it."""
    told = "fit (s) and score (s) are the seconds that the framework took on a fold, the median of all folds"
    several = f", with {began.workers} cells at a time" if began.workers > 1 else ""
    reasons = dict.fromkeys(began.left_out.values())
    return [f"<p>{told}{several}.</p>", *(f"<p>Left out: {escape(reason)}.</p>" for reason in reasons)]


def _tuning(algorithms: Sequence[TunedAlgorithm]) -> list[str]:
    """Which algorithms were tuned, with how many trials, and what was chosen; nothing where none was."""
    first = next((tuning for one in algorithms for tuning in one.tunings), None)
    if first is None:
        return []
    uneven = uneven_tuning(algorithms)
    limit = f" or {first.budget.seconds:g} seconds" if first.budget.seconds is not None else ""
    told = (
        f"Parameters were chosen by {first.metric.name} on the validation part of each fold, before its test part was "
        f"opened, with up to {first.budget.trials} trials{limit} for each algorithm. For the test all algorithms were "
        f"fitted on {REFIT[first.refit]}."
    )
    rows = []
    for one in algorithms:
        chosen = one.chosen or {"": []}
        rows += [[one.label, one.said, one.trials, text, ", ".join(folds)] for text, folds in chosen.items()]
    chosen_by = table(["algorithm", "tuned", "trials", "chosen", "folds"], rows)
    return [
        "<h2>Tuning</h2>",
        *([f"<p><strong>{escape(uneven)}</strong></p>"] if uneven else []),
        f"<p>{escape(told)}</p>",
        f'<div class="wide">{chosen_by}</div>',
    ]


def _notes(journal: Contents) -> list[str]:
    """What algorithms have to say about how they came by their scores; once where it is the same on several folds."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for cell in journal.events("cell.finished"):
        label, _, fold = cell.cell.rpartition("/")
        for name, text in cell.notes.items():
            folds.setdefault((label, name, text), []).append(fold)
    if not folds:
        return []
    rows = ([label, name, text, ", ".join(where)] for (label, name, text), where in folds.items())
    notes = table(["algorithm", "note", "", "folds"], rows)
    return ["<h2>What the systems say</h2>", f'<div class="wide">{notes}</div>']


def _impacts(impacts: pd.DataFrame) -> str:
    if impacts.empty:
        return "<p>No decision touched anything.</p>"
    rows = []
    keys = ["decision", "value", "unit", "note"]
    for (decision, value, unit, _), group in impacts.astype({"value": str}).groupby(keys, sort=False):
        least, most = group["touched"].min(), group["touched"].max()
        span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        rows.append([decision, value, span, f"{group['total'].max():,}", unit, group["note"].iloc[0], len(group)])
    header = ["decision", "value", "touched", "of", "", "note", "cells"]
    return table(header, rows, ["touched", "of", "cells"])


def _decisions(journal: Contents) -> str:
    resolved = journal.events("decisions.resolved")[0]
    opened = set(resolved.left_open_by_source)
    return table(
        ["decision", "value", "meaning", "origin"],
        (
            [
                d.decision,
                d.value,
                d.meaning,
                d.origin + (" (left open by the source)" if d.decision in opened else ""),
            ]
            for d in resolved.decisions
        ),
    )


def _identity(journal: Contents) -> str:
    began, loaded = journal.events("run.started")[0], journal.events("data.loaded")[0]
    facts: list[tuple[str, Any]] = [
        ("data", f"{loaded.data}: {loaded.rows:,} rows, {loaded.users:,} users, {loaded.items:,} items"),
        ("data digest", loaded.digest),
        ("protocol hash", began.protocol_hash),
        ("seed", began.seed),
        *(("metric", measure.full_name) for measure in journal.events("decisions.resolved")[0].measures),
        *began.versions.items(),
        *began.machine.items(),
        ("last event of the journal", journal.reported_hash),
    ]
    return table(["", ""], facts)
