"""The section "Journal" of the report: a searchable table of events; a click on a row shows the full event."""

from __future__ import annotations

from typing import Any

from repro.reports.html import Table, render
from repro.reports.run.embedded import packed
from repro.reports.run.run_view import RunView
from repro.reports.run.sections import Section
from repro.runs.folder import JOURNAL
from repro.runs.journal import events, journal_bytes
from repro.text import plural


def journal_section(view: RunView) -> Section:
    """The section with the search field, the table of events, and the packed lines of the journal."""
    # Events after the end of the run (later reports and exports) must not change the report.
    lines = view.journal.lines[: view.journal.end.number]
    table = Table(
        ["line", "time (UTC)", "event", "what"],
        [[line.number, line.time[:19].replace("T", " "), line.event.event, summary(line.event)] for line in lines],
        ["line"],
        "Events, first to last; each line has the hash of the one before it",
        label="Journal",
        anchor="journal-table",
    )
    stored_lines = journal_bytes(view.run.folder / JOURNAL).split(
        b"\n"
    )  # the bytes, so that readers can check the chain
    content = b"".join(stored_lines[line.number - 1] + b"\n" for line in lines)
    return Section(
        "journal",
        "Journal",
        [
            f"{plural(len(lines), 'event')}, from the start of the run to its end. A line opens to the full event. "
            f"The journal of the run folder may continue after {view.journal.end.cited()} with the digests of reports "
            "and other files that were made from the run.",
            render("run_search.html.j2"),
            table,
            packed("journal-lines", content),
        ],
    )


def summary(event: Any) -> str:
    """An event in a few words."""
    match event:
        case events.RunStarted():
            return f"seed {event.seed}, protocol {event.protocol_hash[:12]}, {plural(event.workers, 'worker')}"
        case events.RunResumed():
            return f"{plural(len(event.cells_kept), 'cell')} kept"
        case events.DecisionsResolved():
            return f"{plural(len(event.decisions), 'decision')}, {plural(len(event.measures), 'measure')}"
        case events.DataLoaded() | events.DataPrepared():
            return f"{event.rows:,} rows, {event.users:,} users, {event.items:,} items, digest {event.digest[:12]}"
        case events.FoldMade():
            return f"{event.fold}: {event.train_rows:,} rows to train on, {event.test_rows:,} to test"
        case events.SplitMade():
            return plural(event.folds, "fold")
        case events.TuningFinished():
            return f"{event.cell}: {plural(len(event.trials), 'trial')}, chosen {event.chosen}"
        case events.CellStarted():
            parameters = "".join(f", {name} = {value}" for name, value in event.parameters.items())
            return f"{event.cell}: {event.algorithm} {event.framework_version}{parameters}"
        case events.CellFinished():
            first = next((value for value in event.values if value.value is not None), None)
            number = f"{first.metric} {first.value:.4f}, " if first else ""
            return f"{event.cell}: {number}fitted in {event.seconds.fit:.2f} s"
        case events.CellFailed():
            return f"{event.cell}: {event.error}"
        case events.ResultsWritten():
            return ", ".join(event.files)
        case events.RunFinished():
            return f"{plural(event.cells, 'cell')}, {event.failed} failed, {event.seconds:.1f} s"
    return ""
