"""Seal: record the digests of files that a journal does not cover yet, with a note that it was done later."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repro.errors import JournalError, StudyError
from repro.runs.folder import RunFolder
from repro.runs.journal import Journal, events, has_journal, read_journal
from repro.verification.finding import Verification
from repro.verification.integrity import check_integrity, digest_of, files_below, may_be_sealed
from repro.verification.record import FolderRecord

PAGES = ".html"  # people may take away what commands made for reading only: it can be made again


@dataclass(frozen=True)
class Sealed:
    """The entry in a folder's journal: files with their digests, and files that no longer exist.

    head  the hash of the last line of the journal; published elsewhere, it identifies the whole folder
    """

    folder: Path
    files: dict[str, str]
    removed: list[str]
    head: str


def seal(folder: str | Path) -> Sealed:
    """Record every file of ``folder`` that its journal has no digest of, or that people changed since; a folder without
    a journal gets one.

    Files that commands wrote must be as they were written: nothing is recorded where they, or the journal, are not.
    """
    target = RunFolder(Path(folder))
    if not target.path.is_dir():
        raise StudyError(f"there is no folder {folder}")
    with target.locked(leave=target.artifacts.is_dir()):
        contents = read_journal(target.journal) if has_journal(target.journal) else None
        record = FolderRecord(contents) if contents and contents.lines else None
        files, removed = _unrecorded_files(target.path, record)
        head = contents.last_hash if contents else ""
        if files or removed:
            journal = Journal(target.journal, contents)
            head = journal.write(events.FilesAdded(files=files, removed=removed))
            journal.close()
    return Sealed(target.path, files, removed, head)


def _unrecorded_files(path: Path, record: FolderRecord | None) -> tuple[dict[str, str], list[str]]:
    """The files to record, and those that are gone; refused where any other check fails."""
    there, _ = files_below(path, record)
    if record is None:
        return _digests(path, there), []
    verification = Verification(path, "integrity")
    check_integrity(path, verification)
    new, gone = [], []
    for failure in verification.failures:
        name, entry = failure.artefact, record.files.get(failure.artefact)
        if (
            name in there
            and not (path / name).is_symlink()
            and (entry is None or may_be_sealed(name, entry, verification.kind))
        ):
            new.append(name)
        elif entry is not None and name not in there and (entry.added or name.endswith(PAGES)):
            gone.append(name)
        else:
            raise JournalError(
                f"{path} cannot be sealed: {failure}; only files that people added or changed can be recorded later"
            )
    return _digests(path, new), gone


def _digests(path: Path, names: list[str]) -> dict[str, str]:
    for name in names:
        if (path / name).is_symlink():
            raise JournalError(f"{path} cannot be sealed: {name} is a symbolic link; put the file itself there")
    return {name: digest_of(path / name) for name in names}
