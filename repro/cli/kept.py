"""What commands share that go by the kept scores of a run."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

kept_data_option = click.option(
    "--data", metavar="DATA", help="The data of the run, where it is no longer where the run found it."
)
algorithms_option = click.option(
    "--algorithm", "algorithms", multiple=True, metavar="LABEL", help="Only this one; may be repeated."
)


def with_journal(run: Path, into: Path) -> None:
    """Put the journal of a run beside what was made of it: who reads one can check the other."""
    from repro.study.folder import JOURNAL

    if run.resolve() != into.resolve():
        shutil.copyfile(run / JOURNAL, into / JOURNAL)
