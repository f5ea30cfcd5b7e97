"""A finished run as exports want it: what the journal says of it, and its files, each checked against the journal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from repro.data import Dataset, datasets
from repro.errors import JournalError
from repro.protocol import Protocol, Value
from repro.runs.folder import JOURNAL, RunFolder, sha256
from repro.runs.journal import events
from repro.runs.journal.events import Line
from repro.runs.run import FinishedRun, metric_names
from repro.runs.written_files import file_digests
from repro.study import Results

STUDY, PROTOCOL = "study.toml", "protocol.toml"


@dataclass(frozen=True)
class CellRecord:
    """One algorithm on one fold: how it began, how it ended and the lines of the journal that say so."""

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
        """What it gave; None where it failed."""
        return self.ended.event if isinstance(self.ended.event, events.CellFinished) else None

    @property
    def error(self) -> str:
        """Why it failed, where it did."""
        return self.ended.event.error if isinstance(self.ended.event, events.CellFailed) else ""


@dataclass(frozen=True, eq=False)
class RunRecord:
    """A run folder, read for an export."""

    run: FinishedRun

    @classmethod
    def read(cls, folder: Path) -> RunRecord:
        """The run in ``folder``; refused where its protocol is not the one that the journal has."""
        record = cls(FinishedRun.read(folder))
        for decision, value in record.decisions.items():
            if record.protocol.get(decision) != value:
                raise JournalError(
                    f"{folder / PROTOCOL} is not the protocol of this run: {decision} was {value!r} when it ran and is "
                    f"{record.protocol.get(decision)!r} there; `repro verify` says what else was changed"
                )
        return record

    @property
    def folder(self) -> Path:
        return self.run.folder

    @property
    def identity(self) -> str:
        """The hash of the journal line with which the run finished, and so of all lines before it."""
        return self.end.hash

    @property
    def end(self) -> Line:
        """The journal line with which the run finished; `Line.cited` is how outputs quote it."""
        return self.run.journal.end

    @property
    def results(self) -> Results:
        return Results(self.folder)

    @property
    def protocol(self) -> Protocol:
        return self.run.protocol

    @cached_property
    def metrics(self) -> dict[str, str]:
        """How the run calls its measures, by their full names."""
        return metric_names(self.run.measures)

    @cached_property
    def began(self) -> events.RunStarted:
        return self._first("run.started")

    @cached_property
    def resolved(self) -> events.DecisionsResolved:
        return self._first("decisions.resolved")

    @cached_property
    def loaded(self) -> events.DataLoaded:
        return self._first("data.loaded")

    @cached_property
    def prepared(self) -> events.DataPrepared:
        return self._first("data.prepared")

    @cached_property
    def folds(self) -> list[events.FoldMade]:
        return self.run.journal.events("fold.made")

    @property
    def decisions(self) -> dict[str, Value]:
        """Every decision in effect, as the journal has it."""
        return {entry.decision: entry.value for entry in self.resolved.decisions}

    @property
    def versions(self) -> dict[str, str]:
        """The software: that of the last time the run was begun or went on."""
        begun = [*self.run.journal.events("run.started"), *self.run.journal.events("run.resumed")]
        return dict(begun[-1].versions)

    @property
    def frameworks(self) -> dict[str, str]:
        """The version of each framework that an algorithm of the run is of."""
        return dict(sorted({(cell.start.framework, cell.start.framework_version) for cell in self.cells}))

    @cached_property
    def dataset(self) -> Dataset | None:
        """What is known of the data set, where it has a name."""
        return datasets().get(self.loaded.data)

    @property
    def started_at(self) -> datetime:
        return datetime.fromisoformat(self.run.journal.lines[0].time)

    @property
    def ended_at(self) -> datetime:
        return datetime.fromisoformat(self.line("run.finished").time)

    @cached_property
    def cells(self) -> list[CellRecord]:
        """What was done, in the order in which it was begun; of what was tried again, the last time."""
        started: dict[str, Line] = {}
        found: dict[str, CellRecord] = {}
        for line in self.run.journal.lines:
            event = line.event
            if isinstance(event, events.CellStarted):
                started[event.cell] = line
            elif isinstance(event, events.CellFinished | events.CellFailed) and event.cell in started:
                label, _, fold = event.cell.rpartition("/")
                found[event.cell] = CellRecord(label, fold, started[event.cell], line)
        return list(found.values())

    @property
    def failed(self) -> dict[str, str]:
        """The cells that could not be done, with the reason."""
        return {cell.start.cell: cell.error for cell in self.cells if cell.finish is None}

    def finished(self, label: str) -> list[CellRecord]:
        """The cells of an algorithm that were done, in the order of the folds."""
        order = [fold.fold for fold in self.folds]
        mine = [cell for cell in self.cells if cell.label == label and cell.finish is not None]
        return sorted(mine, key=lambda cell: order.index(cell.fold))

    def line(self, kind: str) -> Line:
        """The last line of the journal with an event of that kind."""
        found = [line for line in self.run.journal.lines if line.event.event == kind]
        if not found:
            raise JournalError(f"the run in {self.folder} has no event {kind}; finish it with `repro run --resume`")
        return found[-1]

    def artifact(self, digest: str) -> Path:
        """The path of an artefact, which must be what its name says."""
        folder = RunFolder(self.folder)
        if not folder.has(digest):
            raise _damaged(self.folder, f"artifacts/{digest}.parquet")
        return folder.artifact(digest)

    def files(self) -> Iterator[tuple[str, str]]:
        """The files of the run and their SHA-256: those that the journal names, and the journal itself."""
        results = self.run.journal.events("results.written")[-1:]
        named = (dict(results[0].files) if results else {}) | file_digests(self.run.journal)
        for name in dict.fromkeys((STUDY, PROTOCOL, JOURNAL, "report.html", *named)):
            path = RunFolder(self.folder).place(name)
            if not path.is_file():
                if name in named:
                    raise _damaged(self.folder, name)
                continue
            digest = sha256(path.read_bytes())
            if digest != named.get(name, digest):
                raise _damaged(self.folder, name)
            yield name, digest
        for digest in dict.fromkeys(self._artifacts()):
            self.artifact(digest)
            yield f"artifacts/{digest}.parquet", digest

    def _artifacts(self) -> Iterator[str]:
        """Of what was done more than once, those of the last time."""
        tunings = {event.cell: event for event in self.run.journal.events("tuning.finished")}
        for event in (*self.folds, *tunings.values(), *(cell.finish for cell in self.cells)):
            yield from event.artifacts.values() if event is not None else ()

    def _first(self, kind: str) -> Any:
        found = self.run.journal.events(kind)
        if not found:
            raise JournalError(f"the journal in {self.folder} has no event {kind}; it is not that of a finished run")
        return found[0]


def _damaged(folder: Path, name: str) -> JournalError:
    return JournalError(f"{folder / name} is missing or not what the journal says; `repro verify {folder}` says more")
