"""The whole journal: a line for each event, to be searched, and behind each line all that the journal has."""

from __future__ import annotations

from html import escape
from typing import Any

from repro.report.run.embedded import packed
from repro.report.run.figures import section, wide
from repro.report.run.material import Material
from repro.runs.folder import JOURNAL
from repro.runs.journal import events
from repro.text import plural


def journal_section(run: Material) -> str:
    """Search, the table, and the lines themselves."""
    # Up to the end of the run: the same run gives the same report, however often reports and exports are written.
    lines = run.journal.lines[: run.journal.end.number]
    rows = "".join(
        f'<tr><td class="number">{line.number}</td><td>{escape(_clock(line.time))}</td>'
        f"<td>{escape(line.event.event)}</td><td>{escape(summary(line.event))}</td></tr>"
        for line in lines
    )
    head = '<th scope="col" class="number">line</th>' + "".join(
        f'<th scope="col">{name}</th>' for name in ("time (UTC)", "event", "what")
    )
    caption = "Events, first to last; each line has the hash of the one before it"
    search = (
        '<p class="search"><label for="search">Search the journal</label> <input type="search" id="search" '
        'autocomplete="off" aria-describedby="found"> <span id="found" role="status"></span></p>'
    )
    shown = (
        f'<table id="journal-table"><caption><span>{caption}</span></caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )
    whole = (run.run.folder / JOURNAL).read_bytes().split(b"\n")  # as it is, to the byte: who likes may check the chain
    kept = b"".join(whole[line.number - 1] + b"\n" for line in lines)
    return section(
        "journal",
        "Journal",
        [
            f"<p>{plural(len(lines), 'event')}, from the start of the run to its end. A line opens to all that the "
            f"journal has of it. The journal of the run folder may go on after {escape(run.journal.end.cited())}: with "
            "the digests of reports and other files that were made from the run.</p>",
            search,
            wide(shown, "Journal"),
            packed("journal-lines", kept),
        ],
    )


def _clock(time: str) -> str:
    """To the second, as people write it."""
    return time[:19].replace("T", " ")


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
            stated = ", ".join(f"{name} = {value}" for name, value in event.parameters.items())
            return f"{event.cell}: {event.algorithm} {event.framework_version}" + (f", {stated}" if stated else "")
        case events.CellFinished():
            first = next((value for value in event.values if value.value is not None), None)
            told = f"{first.metric} {first.value:.4f}, " if first else ""
            return f"{event.cell}: {told}fitted in {event.seconds.fit:.2f} s"
        case events.CellFailed():
            return f"{event.cell}: {event.error}"
        case events.ResultsWritten():
            return ", ".join(event.files)
        case events.RunFinished():
            return f"{plural(event.cells, 'cell')}, {event.failed} failed, {event.seconds:.1f} s"
    return ""
