"""`repro seal`: record the digests of files in the journal of a folder."""

from __future__ import annotations

import click

from repro.cli.help_text import Command
from repro.cli.output import echo, json_option, print_json


@click.command(cls=Command, epilog="Examples: repro seal reports/multiverse-ml100k; repro seal run --json")
@click.argument("folder", type=click.Path(file_okay=False))
@json_option
def seal(folder: str, as_json: bool) -> None:
    """Record the digests of files that the journal of a folder does not cover yet.

    FOLDER is that of a run, or any other: without a journal it gets one. Notes next to a run, and files that people
    changed since they were recorded, go into the journal as later additions; files that commands wrote must be
    unchanged. `repro verify FOLDER` then holds, and `repro verify FOLDER --head DIGEST` checks it against the digest
    that is printed here.
    """
    from repro.verification import seal as record

    sealed = record(folder)
    if as_json:
        print_json({name: getattr(sealed, name) for name in ("folder", "files", "removed", "head")})
        return
    for name in sealed.files:
        echo(f"recorded {name}")
    for name in sealed.removed:
        echo(f"gone     {name}")
    if not sealed.files and not sealed.removed:
        echo("every file is in the journal already")
    echo(f"head     {sealed.head}")
