"""`repro verify`: check the files and the numbers of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from repro.cli.options.option_classes import argument, command, option
from repro.cli.options.shared_options import FOLDER
from repro.cli.output import Styled, echo, print_json
from repro.cli.progress import Progress
from repro.cli.rerun_comparison import RerunOptions, print_comparison

if TYPE_CHECKING:
    from repro.verification import Level


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(RerunOptions):
    run: str = argument(type=FOLDER, metavar="RUN_FOLDER")
    level: Level = option(
        "Files against the journal; also numbers from stored lists and scores; also everything fitted again.",
        type=click.Choice(["integrity", "rescore", "retrain"]),
        default="integrity",
    )
    head: str | None = option(
        "The published hash of a line of the journal, such as its last one: the journal must contain it.",
        metavar="DIGEST",
    )


@command(
    "repro verify run",
    "repro verify run --level rescore",
    "repro verify run --level retrain --algorithm EASE",
    "repro verify reports/cross-framework-ml100k",
)
def verify(options: VerifyOptions) -> None:
    """Verify a run: file integrity, recomputed metrics, or full retraining.

    RUN_FOLDER is the folder of a run, or one with some of its files, as those under reports/. Each level includes
    the ones before. A failed check is reported with the file, the line of the journal and the users, and the
    exit code is 1. --algorithm, --tolerance, --baseline and --workers are for retrain.
    """
    from repro.verification import verify as check

    with Progress(hidden=options.hidden) as watcher:
        result = check(options.run, options.level, head=options.head, progress=watcher, **options.arguments)
    if options.as_json:
        print_json(result.to_dict())
    else:
        echo(Styled(result.summary, fg="green" if result.holds else "red"))
        for line in result.details:
            echo(f"  {line}")
        if result.refitted is not None:
            echo()
            print_comparison(result.refitted)
    if not result.holds:
        raise click.exceptions.Exit(1)
