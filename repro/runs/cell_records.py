"""The cells of a run, with the journal lines of their start and end."""

from __future__ import annotations

from dataclasses import dataclass

from repro.runs.journal import Contents, events
from repro.runs.journal.events import Line


@dataclass(frozen=True)
class CellRecord:
    """One algorithm on one fold, with the journal lines of its start and its end."""

    label: str
    fold: str
    started: Line
    ended: Line

    @property
    def start(self) -> events.CellStarted:
        event = self.started.event
        assert isinstance(event, events.CellStarted)
        return event

    @property
    def finish(self) -> events.CellFinished | None:
        """The event with its values; None where it failed."""
        return self.ended.event if isinstance(self.ended.event, events.CellFinished) else None

    @property
    def error(self) -> str:
        """The reason why it failed; empty where it did not."""
        return self.ended.event.error if isinstance(self.ended.event, events.CellFailed) else ""


def cell_records(journal: Contents) -> list[CellRecord]:
    """Every cell that ended and was not dropped; of one that ran twice, the last."""
    started: dict[str, Line] = {}
    records: dict[str, CellRecord] = {}
    for line in journal.lines:
        event = line.event
        if isinstance(event, events.CellStarted):
            started[event.cell] = line
        elif isinstance(event, events.CellFinished | events.CellFailed) and event.cell in started:
            label, _, fold = event.cell.rpartition("/")
            if label not in journal.dropped:
                records[event.cell] = CellRecord(label, fold, started[event.cell], line)
    return list(records.values())
