"""A journal as the record of a folder: what kind of folder it is, and which files it must have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from repro.runs.journal import Contents, audit_events, events
from repro.runs.journal.events import ABOUT_FILES

REPORT = "report.html"
# Files that a folder with some files of a run may have under the same name as the run, with other content.
ALSO_ELSEWHERE = ("study.toml", "protocol.toml", REPORT)
OF_STUDIES = ("decisions.resolved", "data.loaded", "data.prepared", "fold.made", "split.made", "cell.started")


@dataclass(frozen=True)
class Entry:
    """A file as the journal has it: its SHA-256, the line that says so, and what it is.

    required  whether the file must be there
    here      whether it was written or added in this folder, not in that of a run whose journal this one continues
    added     whether its digest was recorded later, of a file that people made or changed
    """

    digest: str
    line: int
    what: str
    cell: str = ""
    required: bool = True
    here: bool = False
    added: bool = False


@dataclass(frozen=True)
class FolderRecord:
    """The journal of a folder: of a run, an audit, or files alone."""

    journal: Contents

    @property
    def is_audit(self) -> bool:
        return isinstance(self.journal.lines[0].event, audit_events.AuditStarted)

    @property
    def is_only_files(self) -> bool:
        """Whether it has nothing but events about files: no run and no audit."""
        return all(line.event.event in ABOUT_FILES for line in self.journal.lines)

    @property
    def has_cells(self) -> bool:
        """Whether a study was run; the journal of a claim that needs no fit has no cells."""
        return any(line.event.event in OF_STUDIES for line in self.journal.lines)

    @cached_property
    def files(self) -> dict[str, Entry]:
        """Every file of the folder that an event names, as it was last written."""
        entries: dict[str, Entry] = {}
        here = self.is_only_files or self.is_audit or not self.has_cells
        for line in self.journal.lines:
            event, number = line.event, line.number
            match event:
                case events.ResultsWritten():
                    entries |= {name: Entry(digest, number, "", here=here) for name, digest in event.files.items()}
                case events.ReportWritten():
                    here = here or event.run is not None  # from here on, lines are of this folder
                    files = event.used | event.files
                    entries |= {name: Entry(digest, number, "", here=here) for name, digest in files.items()}
                    entries = {name: entry for name, entry in entries.items() if name not in event.removed}
                case events.FilesAdded():
                    added = event.files.items()
                    entries |= {name: Entry(digest, number, "", here=True, added=True) for name, digest in added}
                    entries = {name: entry for name, entry in entries.items() if name not in event.removed}
                case audit_events.MeasureInferred():
                    entries[event.page] = Entry(event.page_digest, number, event.name, here=True)
                case events.FoldMade() | events.TuningFinished() | events.CellFinished():
                    about = event.fold if isinstance(event, events.FoldMade) else event.cell
                    required = self._last_lines.get((event.event, about)) == number
                    for name, digest in event.artifacts.items():
                        path = f"artifacts/{digest}.parquet"
                        known = entries.get(path)  # a table of two lines belongs to the one that requires it
                        if known is None or not known.required:
                            entries[path] = Entry(digest, number, f"{name} of {about}", about, required)
        return entries

    @cached_property
    def _last_lines(self) -> dict[tuple[str, str], int]:
        """The lines whose artefacts must be there: the last one about each fold and each cell."""
        last_lines: dict[tuple[str, str], int] = {}
        for line in self.journal.lines:
            match line.event:
                case events.FoldMade() as event:
                    last_lines[event.event, event.fold] = line.number
                case events.TuningFinished() | events.CellFinished() as event:
                    last_lines[event.event, event.cell] = line.number
                case events.CellFailed() as event:
                    last_lines.pop(("cell.finished", event.cell), None)
        return last_lines
