"""The files of a finished run, checked against its journal before they are used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from repro.errors import JournalError
from repro.runs.cell_records import CellRecord
from repro.runs.folder import ARTIFACTS, JOURNAL, RunFolder, file_digest
from repro.runs.journal import Contents, events
from repro.runs.written_files import file_digests

STUDY, PROTOCOL, RESULTS = "study.toml", "protocol.toml", "results.parquet"
KEEP_SCORES = "run the study again with `repro run --keep-scores --resume`, which keeps what is finished"


def stored_table(files: RunFolder, cell: events.CellFinished, name: str) -> Path:
    """The path of a table that a cell stored; the file must be there."""
    path = files.artifact(cell.artifacts[name])
    if not path.is_file():
        label, _, fold = cell.cell.rpartition("/")
        remedy = KEEP_SCORES if name in ("scores", "scored_items") else "`repro run --resume` makes them again"
        table = name.replace("_", " ")
        raise JournalError(f"the {table} of {label} ({fold}) are no longer in {files.artifacts}; {remedy}")
    return path


def checked_artifact(files: RunFolder, digest: str) -> Path:
    """The path of an artefact, after a check of its content."""
    if not files.has(digest):
        raise _damaged(files, f"{ARTIFACTS}/{digest}.parquet")
    return files.artifact(digest)


def checked_files(files: RunFolder, journal: Contents, cells: Sequence[CellRecord]) -> Iterator[tuple[str, str]]:
    """The files of a run and their SHA-256: those that the journal names, after a check, and the journal."""
    named = file_digests(journal)
    for event in journal.events("results.written")[-1:]:
        named = dict(event.files) | named
    for name in dict.fromkeys((STUDY, PROTOCOL, JOURNAL, "report.html", *named)):
        path = files.place(name)
        digest = file_digest(path) if path.is_file() else None
        if named.get(name, digest) != digest:
            raise _damaged(files, name)
        if digest is not None:
            yield name, digest
    tunings = {event.cell: event for event in journal.events("tuning.finished")}
    ended = (*journal.folds.values(), *tunings.values(), *(cell.finish for cell in cells))
    for digest in dict.fromkeys(digest for event in ended if event is not None for digest in event.artifacts.values()):
        checked_artifact(files, digest)
        yield f"{ARTIFACTS}/{digest}.parquet", digest


def _damaged(files: RunFolder, name: str) -> JournalError:
    return JournalError(
        f"{files.path / name} is missing or damaged: it does not match the journal; `repro verify "
        f"{files.path}` shows details, and `repro run --resume` makes it again"
    )
