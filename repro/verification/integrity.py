"""Integrity: every file of a folder has the digest that the journal states."""

from __future__ import annotations

import re
from pathlib import Path

from repro.errors import JournalError
from repro.runs.folder import ARTIFACTS, JOURNAL, LOCK, file_digest
from repro.runs.journal import has_journal, packed_journal, read_journal
from repro.types import Progress
from repro.verification.finding import Failure, Kind, Verification
from repro.verification.order import check_order
from repro.verification.record import ALSO_ELSEWHERE, REPORT, Entry, FolderRecord
from repro.verification.stated import check_stated


def check_integrity(
    path: Path, verification: Verification, report_progress: Progress | None = None
) -> FolderRecord | None:
    """Check the journal, then every file by it; failures go into ``verification``. None where the journal is unusable.

    Every file below the folder must have its digest in the journal. Of a folder that keeps some files of a run, as
    those under ``reports/`` do, the files of the run that are elsewhere need not be there.
    """
    if not has_journal(path / JOURNAL):
        raise JournalError(
            f"{path} has no {JOURNAL}; give the folder of a run, as `repro run` makes it, or record its files with "
            f"`repro seal {path}`"
        )
    try:
        contents = read_journal(path / JOURNAL)
    except JournalError as error:
        line = re.search(r", line (\d+)", str(error))
        sentence = str(error)[line.end() :].removeprefix(": ").removeprefix(" ") if line else str(error)
        sentence = f"it {sentence}" if sentence.startswith("is ") else sentence
        verification.failures.append(Failure("integrity", JOURNAL, sentence, int(line[1]) if line else None))
        verification.unchecked.append("all other files: they are checked by the journal, and it does not hold")
        return None
    record = FolderRecord(contents)
    verification.failures += check_order(record)
    if not contents.lines:
        return None
    verification.kind = kind_of(path, record)
    if record.is_only_files and verification.kind == "run":
        message = (
            "it has events about files only, and the folder has files of a run: the events of the run were removed"
        )
        verification.failures.append(Failure("integrity", JOURNAL, message, 1))
    verification.failures += check_stated(path, record, whole=verification.kind == "run" and not record.is_only_files)
    there, nested = files_below(path, record)
    _check_files(path, there, record, verification, report_progress)
    _check_missing(record, there, verification)
    count = f"{len(contents.lines):,} events, {len(there):,} files"
    _add_notes(record, there, nested, verification)
    failed = record.journal.cell_ends.keys() - record.journal.finished_cells.keys()
    cells = f", {len(failed):,} of {len(record.journal.cell_ends):,} cells failed when it ran" if failed else ""
    verification.checked["integrity"] = count + cells
    return record


def check_head(record: FolderRecord, head: str, verification: Verification) -> None:
    """Check that the journal has the line with the hash ``head``, or with its first 12 or more digits."""
    prefix = head.strip().lower()
    if not re.fullmatch("[0-9a-f]{12,64}", prefix):
        raise JournalError(f"'{head}' is not the hash of a line: give 12 to 64 hexadecimal digits of it")
    lines = record.journal.lines
    line = next((line for line in lines if line.hash.startswith(prefix)), None)
    if line is None:
        message = (
            f"no line has the published hash {prefix}: the journal was changed before that line, or is another one"
        )
        verification.failures.append(Failure("integrity", JOURNAL, message))
        return
    since = [later.event.event for later in lines[line.number :]]
    kinds = ", ".join(f"{since.count(kind)} {kind}" for kind in dict.fromkeys(since))
    lines_added = f"{len(since)} line{' was' if len(since) == 1 else 's were'} added since ({kinds})"
    added = f"; {lines_added}" if since else ", its last line"
    verification.notes.append(f"the published head is line {line.number} of the journal ({line.event.event}){added}")


def kind_of(path: Path, record: FolderRecord) -> Kind:
    """The kind of a folder, by its journal and its files."""
    if record.is_audit:
        return "audit"
    stored = (path / ARTIFACTS).is_dir() or (path / "results.parquet").is_file()
    if record.is_only_files and not stored:
        return "files"
    return "run" if stored and (record.has_cells or record.is_only_files) else "part of a run"


def files_below(path: Path, record: FolderRecord | None) -> tuple[list[str], list[str]]:
    """Every file below the folder but the journal and the lock, which is an empty file; and the folders below that
    have a journal of their own, to which files are left that the journal here does not name."""
    journals = {*path.glob(f"*/**/{JOURNAL}"), *path.glob(f"*/**/{packed_journal(Path(JOURNAL))}")}
    others = sorted({journal.parent.relative_to(path).as_posix() for journal in journals})
    own = JOURNAL if (path / JOURNAL).is_file() else packed_journal(path / JOURNAL).name
    named = record.files if record else {}
    names = []
    for file in path.rglob("*"):
        name = file.relative_to(path).as_posix()
        of_other_journal = any(name.startswith(f"{other}/") for other in others) and name not in named
        empty_lock = file.name == LOCK and not file.is_symlink() and not file.stat().st_size
        if (file.is_symlink() or not file.is_dir()) and name != own and not of_other_journal and not empty_lock:
            names.append(name)
    return sorted(names), [other for other in others if f"{other}/{JOURNAL}" not in named]


def _check_files(
    path: Path, there: list[str], record: FolderRecord, verification: Verification, report_progress: Progress | None
) -> None:
    """Compare the digest of each file with the journal."""
    for number, name in enumerate(there, 1):
        entry = record.files.get(name)
        if (path / name).is_symlink():
            verification.failures.append(Failure("integrity", name, "it is a symbolic link, not a file of the folder"))
        elif entry is None:
            message = (
                f"it is not in the journal: no event says what it must be (`repro seal {path}` records what it is)"
            )
            verification.failures.append(Failure("integrity", name, message))
        elif digest_of(path / name) != entry.digest:
            verification.failures.append(_failure(name, entry, _changed(path, name, entry, verification.kind)))
        if report_progress:
            report_progress("integrity", number, len(there))


def _changed(path: Path, name: str, entry: Entry, kind: Kind) -> str:
    """The sentence about a file whose content is not what the journal says."""
    if may_be_sealed(name, entry, kind):
        was = "was recorded" if entry.added else "the run had"
        return f"its content is not what {was}; if the change is yours, `repro seal {path}` records it"
    return "its content is not what was written"


def may_be_sealed(name: str, entry: Entry, kind: Kind) -> bool:
    """Whether people may record other content of a file: of files that they added, and of those that a folder with some
    files of a run has in place of the run's."""
    return entry.added or (kind == "part of a run" and not entry.here and name in ALSO_ELSEWHERE)


def _check_missing(record: FolderRecord, there: list[str], verification: Verification) -> None:
    lacking = [name for name, entry in record.files.items() if entry.required and name not in there]
    for name in lacking:
        if verification.kind != "part of a run" or record.files[name].here:
            verification.failures.append(_failure(name, record.files[name], "it is missing"))
    elsewhere = sum(not record.files[name].here for name in lacking)
    if verification.kind == "part of a run" and elsewhere:
        verification.unchecked.append(f"{elsewhere:,} files of the run that were not kept here")


def _add_notes(record: FolderRecord, there: list[str], nested: list[str], verification: Verification) -> None:
    """Notes about the folder, and what is not checked here."""
    outer = [name for name in nested if not any(name.startswith(f"{other}/") for other in nested)]
    if outer:
        verification.unchecked.append(f"{_listed(outer)}: with a journal of its own, to be verified by itself")
    if added := [name for name in there if name in record.files and record.files[name].added]:
        verification.notes.append(f"recorded as they were found, not as a command wrote them: {_listed(added)}")
    ends = [line.number for line in record.journal.lines if line.event.event == "run.finished"]
    if REPORT in there and REPORT in record.files and record.files[REPORT].line < max(ends, default=0):
        verification.unchecked.append(
            f"{REPORT} is of an earlier state: the run went on since; `repro report` writes it anew"
        )


def _listed(names: list[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _failure(name: str, entry: Entry, what: str) -> Failure:
    about = f"the {entry.what}: " if entry.what else ""
    return Failure("integrity", name, about + what, entry.line, entry.cell)


def digest_of(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as error:
        return f"unreadable: {error.strerror or error}"
