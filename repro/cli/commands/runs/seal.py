"""`repro seal`: digests of files that a folder's journal does not cover yet."""

from __future__ import annotations

import click

from repro.cli.output import echo, json_option, print_json


@click.command(epilog="Examples: repro seal reports/multiverse-ml100k; repro seal run --json")
@click.argument("folder", type=click.Path(file_okay=False))
@json_option
def seal(folder: str, as_json: bool) -> None:
    """Record the digests of files that the journal of a folder does not cover yet.

    FOLDER is that of a run, or any other: without a journal it gets one. Notes beside a run, and files that people
    changed since they were recorded, go into the journal with a word that this was later; what commands wrote must be
    as they wrote it. `repro verify FOLDER` then holds, and `repro verify FOLDER --head DIGEST` checks it against the
    digest that is printed here.
    """
    from repro.verify import seal as record

    done = record(folder)
    if as_json:
        print_json({"folder": str(done.folder), "files": done.files, "removed": done.removed, "head": done.head})
        return
    for name in done.files:
        echo(f"recorded {name}")
    for name in done.removed:
        echo(f"gone     {name}")
    if not done.files and not done.removed:
        echo("every file is in the journal already")
    echo(f"head     {done.head}")
