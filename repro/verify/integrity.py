"""Integrity: every byte of a run folder is one that its journal accounts for."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from repro.errors import JournalError
from repro.journal import ENDS, read_journal
from repro.study.folder import JOURNAL, LOCK
from repro.verify.finding import Failure, Verification
from repro.verify.order import check_order
from repro.verify.record import ASKED, REPORT, Entry, Record

Tell = Callable[[str, int, int], None]


def check_integrity(path: Path, found: Verification, tell: Tell | None = None) -> Record | None:
    """Check the journal, then every file by it; what is wrong goes into ``found``. None without a journal to go by.

    A folder that kept only some files of a run, as those under ``reports/`` do, is checked for what it has.
    """
    if not (path / JOURNAL).is_file():
        raise JournalError(f"{path} has no {JOURNAL}; give the folder of a run, as `repro run` makes it")
    try:
        contents = read_journal(path / JOURNAL)
    except JournalError as error:
        line = re.search(r", line (\d+)", str(error))
        told = str(error)[line.end() :].removeprefix(": ").removeprefix(" ") if line else str(error)
        told = f"it {told}" if told.startswith("is ") else told
        found.failures.append(Failure("integrity", JOURNAL, told, int(line[1]) if line else None))
        found.unchecked.append("all other files: they are checked by the journal, and it does not hold")
        return None
    record = Record(contents)
    found.failures += check_order(record)
    if not contents.lines:
        return None
    if record.is_audit:
        found.kind = "audit"
    elif not record.has_cells or not ((path / "artifacts").is_dir() or (path / "results.parquet").is_file()):
        found.kind = "part of a run"
    there = sorted(_files(path, nested=found.kind == "run"))
    strays = _check_files(path, there, record, found, tell)
    count = f"{len(contents.lines):,} events"
    if found.kind == "run":
        _check_missing(record, there, found)
        count += f", {len(there) - len(strays):,} files"
    else:
        _tell_kept(record, there, found)
        count += f", {len(there) - len(strays):,} of the {len(record.files):,} files that it tells of"
    _judge_strays(path, strays, record, found)
    ends = [line.number for line in contents.lines if line.event.event == "run.finished"]
    if REPORT in there and REPORT in record.files and record.files[REPORT].line < max(ends, default=0):
        found.unchecked.append(f"{REPORT} is of an earlier state: the run went on since; `repro report` writes it anew")
    if elsewhere := sum(event.protocol is not None for event in contents.events("measure.inferred")):
        found.unchecked.append(f"{elsewhere:,} protocols, which an audit writes elsewhere")
    failed = record.cells.keys() - record.finished.keys()
    cells = f", {len(failed):,} of {len(record.cells):,} cells failed when it ran" if failed else ""
    found.checked["integrity"] = count + cells
    return record


def _files(path: Path, *, nested: bool) -> Iterator[str]:
    """Every file below the folder but the journal, and the lock, which is an empty file.

    Unless ``nested``, folders that have a journal of their own are left to it.
    """
    others = [] if nested else [journal.parent for journal in path.glob(f"*/**/{JOURNAL}")]
    for file in path.rglob("*"):
        if any(other in file.parents for other in others):
            continue
        name = file.relative_to(path).as_posix()
        empty_lock = file.name == LOCK and not file.stat().st_size
        if (file.is_file() or file.is_symlink()) and name != JOURNAL and not empty_lock:
            yield name


def _check_files(path: Path, there: list[str], record: Record, found: Verification, tell: Tell | None) -> list[str]:
    """Hold each file against its digest; those that the journal does not know."""
    strays = []
    for number, name in enumerate(there, 1):
        entry = record.files.get(name)
        if entry is None:
            strays.append(name)
        elif _digest(path / name) != entry.digest:
            if found.kind != "run" and name in (*ASKED, REPORT):
                strays.append(name)  # of the question, or of something made of the run: not the run's own
            else:
                found.failures.append(_failure(name, entry, "its content is not what was written"))
        if tell:
            tell("integrity", number, len(there))
    return strays


def _check_missing(record: Record, there: list[str], found: Verification) -> None:
    for name, entry in record.files.items():
        if entry.required and name not in there:
            found.failures.append(_failure(name, entry, "it is missing"))


def _tell_kept(record: Record, there: list[str], found: Verification) -> None:
    lacking = [name for name, entry in record.files.items() if entry.required and name not in there]
    if lacking:
        found.unchecked.append(f"{len(lacking):,} files of the run that were not kept here")


def _judge_strays(path: Path, strays: list[str], record: Record, found: Verification) -> None:
    """Files that no event accounts for: of a run, a failure, unless its journal is older than that rule."""
    unknown = []
    for name in strays:
        if found.kind == "part of a run" and name == REPORT:
            _judge_report(path, record, found)
        elif found.kind != "run" or (not record.covers_all and name in (*ASKED, REPORT)):
            unknown.append(name)
        else:
            what = "it is not in the journal: no event says what it must be"
            found.failures.append(Failure("integrity", name, what))
    if unknown:
        listed = ", ".join(unknown[:8]) + (f" and {len(unknown) - 8} more" if len(unknown) > 8 else "")
        found.unchecked.append(f"{listed}: the journal has no digest of {'it' if len(unknown) == 1 else 'them'}")


def _judge_report(path: Path, record: Record, found: Verification) -> None:
    """A report whose digest is not in the journal must at least be one of this journal."""
    text = (path / REPORT).read_text(encoding="utf-8", errors="replace")
    quoted = [line for line in record.contents.lines if line.event.event in ENDS and line.hash in text]
    if quoted:
        found.unchecked.append(f"{REPORT}, but it quotes the journal's line {quoted[-1].number} correctly")
    else:
        what = "it does not quote the line of this journal with which the run finished: it is of another run"
        found.failures.append(Failure("integrity", REPORT, what, record.contents.lines[-1].number))


def _failure(name: str, entry: Entry, what: str) -> Failure:
    about = f"the {entry.what}: " if entry.what else ""
    return Failure("integrity", name, about + what, entry.line, entry.cell)


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror or error}"
