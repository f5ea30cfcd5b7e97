"""Reports of a finished run: written beside it, with their digest in its journal."""

from __future__ import annotations

from pathlib import Path

from repro.journal import Journal, events, read_journal
from repro.plugin import plugins
from repro.study.folder import RunFolder


def keep_report(run: Path, name: str, content: bytes) -> Path:
    """Write the report called ``name`` into the folder of a run, and its digest into the journal; its path.

    A report that is written again, the same as before, leaves no second event.
    """
    folder = RunFolder(run)
    with folder.locked():
        contents = read_journal(folder.journal)
        told = {key: digest for event in contents.events("report.written") for key, digest in event.files.items()}
        digest = folder.write(name, content)
        if told.get(name) != digest:
            journal = Journal(folder.journal, contents, lambda line: plugins().observe(run, line))
            journal.write(events.ReportWritten(files={name: digest}))
            journal.close()
    return run / name
