"""The run that is exported."""

from __future__ import annotations

from pathlib import Path

from repro.runs.run import Run


def read_run(folder: Path) -> Run:
    """The run in ``folder``; refused where its protocol is not the one that the journal has."""
    run = Run(folder)
    run.protocol  # noqa: B018  # reading it checks it
    return run
