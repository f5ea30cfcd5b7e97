"""Check which events a journal has and in which order: someone who removes an event can hash the chain again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from repro.runs.journal import audit_events, events
from repro.runs.journal.events import ABOUT_FILES
from repro.verification.finding import Failure, failure_at
from repro.verification.record import FolderRecord

BEFORE_CELLS = ("run.started", "decisions.resolved", "data.loaded", "data.prepared", "split.made")


def check_order(record: FolderRecord) -> Iterator[Failure]:
    """Events that are missing, come too early, or state another count than the journal has."""
    lines = record.journal.lines
    if record.journal.torn:
        yield failure_at(f"it ends in {record.journal.torn:,} bytes of a line that was never finished")
    if not lines:
        yield failure_at("it has no events")
        return
    if record.is_only_files:
        return
    first = lines[0]
    if not isinstance(first.event, events.RunStarted | audit_events.AuditStarted):
        yield failure_at(f"it begins with {first.event.event}, not with the start of a run", first)
    yield from _end(record)
    if record.has_cells:
        yield from _cells(record)


def _end(record: FolderRecord) -> Iterator[Failure]:
    own_lines = [line for line in record.journal.lines if line.event.event not in ABOUT_FILES]
    last = own_lines[-1] if own_lines else record.journal.lines[-1]
    if not isinstance(last.event, events.RunFinished | audit_events.AuditFinished):
        yield failure_at(f"it ends with {last.event.event}: the run was cut off, or the end was removed", last)
    elif not any(line.event.event == "results.written" for line in own_lines):
        yield failure_at("no event says that results were written", last)
    if any(cell.facts is not None for cell in record.journal.finished_cells.values()):
        for before, line in pairwise(own_lines):
            if line.event.event == "results.written" and before.event.event != "findings.made":
                yield failure_at("results were written, and no event before says what is suspicious about them", line)


def _cells(record: FolderRecord) -> Iterator[Failure]:
    seen: set[str] = set()
    started: set[str] = set()
    folds: set[str] = set()
    for line in record.journal.lines:
        event = line.event
        seen.add(event.event)
        match event:
            case events.FoldMade():
                folds.add(event.fold)
            case events.SplitMade() if event.folds != len(folds):
                yield failure_at(f"it says {event.folds} folds, and {len(folds)} were made", line)
            case events.CellStarted():
                started.add(event.cell)
                lacking = [kind for kind in BEFORE_CELLS if kind not in seen]
                if lacking:
                    yield failure_at(f"a cell starts, and there is no {lacking[0]} before it", line, event.cell)
                if event.fold not in folds:
                    yield failure_at(f"the fold {event.fold} was never made", line, event.cell)
            case events.CellFinished() if event.cell not in started:
                yield failure_at("the cell was finished and never started", line, event.cell)
    yield from _counts(record)


def _counts(record: FolderRecord) -> Iterator[Failure]:
    ends = [line for line in record.journal.lines if isinstance(line.event, events.RunFinished)]
    if not ends or not isinstance(ends[-1].event, events.RunFinished):
        return
    done = len(record.journal.finished_cells)
    failed = len(record.journal.cell_ends) - done
    if (ends[-1].event.cells, ends[-1].event.failed) != (done, failed):
        yield failure_at(
            f"it says {ends[-1].event.cells} cells finished and {ends[-1].event.failed} failed, and the events are of "
            f"{done} and {failed}",
            ends[-1],
        )
