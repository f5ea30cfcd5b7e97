"""Files that commands write into a folder, with their digests in the journal of that folder."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from repro.errors import JournalError, StudyError
from repro.plugin import plugins
from repro.runs.folder import JOURNAL, RunFolder, file_digest
from repro.runs.journal import Contents, Journal, events, has_journal, journal_bytes, packed_journal, read_journal
from repro.runs.journal.base import Files


def keep_files(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    run: Path | None = None,
    used: Iterable[str] = (),
    shared: Mapping[str, bytes] | None = None,
    tested: str = "",
) -> None:
    """Write ``files`` into ``folder``, and their digests into its journal. Every command writes its files this way.

    run     the folder of the run that the files are made from: the journal of ``folder`` continues that of the run
    used    names of files in ``folder`` that the files are made from; their digests are recorded too
    shared  files that people edit as well, such as a README: recorded as files that were added
    tested  the test, family of comparisons and correction behind the significant differences in the files

    The same files written again leave no second event.
    """
    shared = shared or {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"cannot make the folder {folder}: {error.strerror or error}") from None
    with _locked(folder) as target:
        for name, content in {**files, **shared}.items():
            target.write(name, content)
        event = events.ReportWritten(files=_digests(target, files), used=_digests(target, used), tested=tested)
        _record(target, event, run, _digests(target, shared))


def keep_written(folder: Path, files: Iterable[str], *, run: Path, removed: Iterable[str] = ()) -> None:
    """Records files that another library wrote into ``folder``, and the deleted files ``removed``."""
    with _locked(folder) as target:
        _record(target, events.ReportWritten(files=_digests(target, files), removed=list(removed)), run, {})


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[RunFolder]:
    target = RunFolder(folder)
    with target.locked(leave=target.artifacts.is_dir()):
        yield target


def _record(folder: RunFolder, written: events.ReportWritten, run: Path | None, shared: Files) -> None:
    """Append the digests of files to the journal of a folder, which continues that of a run, if there is one."""
    before = _previous_journal(folder, replaceable=run is not None)
    of_run = None if run is None or run.resolve() == folder.path.resolve() else read_journal(run / JOURNAL)
    contents = before if of_run is None or _continues(before, of_run) else _start_from_run(folder, run)
    if of_run is not None:
        written = written.model_copy(update={"run": of_run.last_hash})
    here = written.used | written.files
    added = shared | (_still_there(folder, before, here) if contents is not before else {})
    recorded = file_digests(contents)
    new: list[events.ReportWritten | events.FilesAdded] = []
    if written.removed or not here.items() <= recorded.items():
        new.append(written)
    if not added.items() <= recorded.items():
        new.append(events.FilesAdded(files=added))
    if new:
        journal = Journal(folder.journal, contents, lambda line: plugins().observe(folder.path, line))
        for event in new:
            journal.write(event)
        journal.close()


def _digests(folder: RunFolder, names: Iterable[str]) -> Files:
    return {name: file_digest(folder.place(name)) for name in names}


def _previous_journal(folder: RunFolder, *, replaceable: bool) -> Contents | None:
    """The journal of the folder; one that cannot be read may be replaced by that of a run."""
    if not has_journal(folder.journal):
        return None
    try:
        return read_journal(folder.journal)
    except JournalError:
        if replaceable:
            return None
        raise


def file_digests(contents: Contents | None) -> Files:
    """The last digest of each file that an event about files names."""
    digests: Files = {}
    for event in (line.event for line in contents.lines) if contents else ():
        if isinstance(event, events.ReportWritten | events.FilesAdded):
            used = event.used if isinstance(event, events.ReportWritten) else {}
            digests = {
                name: digest for name, digest in (digests | used | event.files).items() if name not in event.removed
            }
    return digests


def _continues(contents: Contents | None, run: Contents) -> bool:
    """Whether a journal starts with all lines of the journal of the run."""
    count = len(run.lines)
    return contents is not None and len(contents.lines) >= count and contents.lines[count - 1].hash == run.last_hash


def _start_from_run(folder: RunFolder, run: Path | None) -> Contents:
    """Replace the journal of the folder with that of a run."""
    assert run is not None
    folder.write(JOURNAL, journal_bytes(run / JOURNAL))
    packed_journal(folder.journal).unlink(missing_ok=True)
    return read_journal(folder.journal)


def _still_there(folder: RunFolder, before: Contents | None, others: Files) -> Files:
    """Files of the previous journal that still exist with the same content, without ``others``."""
    recorded = {name: digest for name, digest in file_digests(before).items() if name not in others}
    return {name: digest for name, digest in recorded.items() if folder.holds(name, digest)}
