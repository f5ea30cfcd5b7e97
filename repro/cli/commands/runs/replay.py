"""`repro replay`: a run once more from its folder alone, with a verdict for each number."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from repro.cli.options.score_options import algorithms_option, kept_data_option
from repro.cli.output import echo, json_option, print_json, print_table
from repro.cli.progress import Replicating, quiet_option
from repro.cli.rerun_comparison import baseline_option, print_comparison, tolerance_option

if TYPE_CHECKING:
    from repro.verify.replay_run import Replay


@click.command(
    epilog="Examples: repro replay their-run --into again; "
    "repro replay their-run --into again --data ratings.csv --here"
)
@click.argument("run", type=click.Path(file_okay=False))
@click.option("--into", required=True, type=click.Path(file_okay=False), help="The folder of the new run.")
@kept_data_option
@click.option("--here", is_flag=True, help="Build no environments: frameworks run in the versions that are here.")
@click.option("--strict", is_flag=True, help="End with status 1 also where a framework has not the versions of then.")
@algorithms_option
@tolerance_option
@baseline_option
@click.option("--workers", type=click.IntRange(1), help="Cells run in that many processes [default: all cores].")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="How long a framework in a process of its own may take to fit, or to score a block of users.",
)
@quiet_option
@json_option
def replay(
    run: str,
    into: str,
    data: str | None,
    here: bool,
    strict: bool,
    algorithms: tuple[str, ...],
    tolerance: float,
    baseline: str | None,
    workers: int | None,
    time_limit: float | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Repeat a finished run from its folder alone, in its own versions, and compare each number.

    RUN is the folder of a run, from this machine or another one. Each framework runs in the versions that the run kept
    a freeze of; the data is got, and refused if it is not that of the run. The new run is a run folder like any other,
    with the verdicts in replay.json. What could not be installed, such as packages that came from a folder or a
    repository, is named. The exit code is 1 where a number is different.
    """
    from repro.report import write_report
    from repro.runs.run import Run
    from repro.verify import replay as run_again

    with Replicating(hidden=quiet or as_json) as watcher:
        done = run_again(
            run,
            into,
            data=data,
            here=here,
            algorithms=algorithms or None,
            tolerance=tolerance,
            baseline=baseline,
            workers=workers or os.cpu_count() or 1,
            time_limit=time_limit,
            say=lambda line: None if line.startswith(" ") else watcher.say(line),  # what pip says is set in
            tell=watcher.tell,
            watcher=watcher,
        )
    report = write_report(Run(done.folder))
    if as_json:
        print_json({"folder": str(done.folder), **done.to_dict()})
    else:
        _print(done)
        echo(f"\nreport   {report}\nrun      {done.folder}")
    if not done.reproduced or (strict and not done.versions_of_then):
        raise click.exceptions.Exit(1)


def _print(done: Replay) -> None:
    for one in done.frameworks:
        echo(one.sentence)
    if done.changed:
        echo()
        rows = [[name, then, now] for name, (then, now) in done.changed.items()]
        print_table(["software and machine", "then", "now"], rows)
    else:
        echo("software and machine are the same as then")
    echo()
    print_comparison(done.comparison)
