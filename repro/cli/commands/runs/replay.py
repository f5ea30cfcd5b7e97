"""`repro replay`: repeat a run from its folder alone, and compare each number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from repro.cli.options.option_classes import argument, command, flag, option
from repro.cli.options.shared_options import FOLDER, time_limit_option
from repro.cli.output import echo, print_json, print_table
from repro.cli.progress import Progress
from repro.cli.rerun_comparison import RerunOptions, print_comparison

if TYPE_CHECKING:
    from repro.verification.replay_run import Replay


@dataclass(frozen=True, kw_only=True)
class ReplayOptions(RerunOptions):
    run: str = argument(type=FOLDER, metavar="RUN_FOLDER")
    into: str = option("The folder of the new run.", required=True, type=FOLDER)
    here: bool = flag("Build no environments: use the installed versions.")
    strict: bool = flag("End with exit code 1 also if a framework has other versions than in the run.")
    time_limit: float | None = time_limit_option()


@command(
    "repro replay their-run --into again",
    "repro replay their-run --into again --data ratings.csv --here",
)
def replay(options: ReplayOptions) -> None:
    """Repeat a finished run from its folder alone, in its own versions, and compare each number.

    RUN_FOLDER is that of a run, of this machine or another one. Each framework runs in the versions of the run's
    freeze; the data is loaded, and rejected if it is not that of the run. The new run is a run folder like any other,
    with the verdicts in replay.json. Packages that cannot be installed, such as those from a folder or a repository,
    are named. The exit code is 1 if a number differs.
    """
    from repro.reports import write_report
    from repro.runs.run import Run
    from repro.verification import replay as run_again

    with Progress(hidden=options.hidden) as watcher:
        result = run_again(
            options.run,
            options.into,
            here=options.here,
            time_limit=options.time_limit,
            say=lambda line: None if line.startswith(" ") else watcher.print(line),  # lines of pip are indented
            progress=watcher,
            **options.arguments,
        )
    report = write_report(Run(result.folder))
    if options.as_json:
        print_json({"folder": str(result.folder), **result.to_dict()})
    else:
        _print(result)
        echo(f"\nreport   {report}\nrun      {result.folder}")
    if not result.reproduced or (options.strict and not result.versions_of_then):
        raise click.exceptions.Exit(1)


def _print(result: Replay) -> None:
    for framework in result.frameworks:
        echo(framework.sentence)
    if result.changed:
        echo()
        rows = [[name, then, now] for name, (then, now) in result.changed.items()]
        print_table(["software and machine", "then", "now"], rows)
    else:
        echo("software and machine are the same as then")
    echo()
    print_comparison(result.comparison)
