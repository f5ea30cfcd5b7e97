"""`repro verify`: what holds of a run, in one line, and what does not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from repro.cli.options.score_options import algorithms_option, kept_data_option
from repro.cli.output import Styled, echo, json_option, print_json
from repro.cli.progress import Replicating, quiet_option
from repro.cli.rerun_comparison import baseline_option, print_comparison, tolerance_option

if TYPE_CHECKING:
    from repro.verify import Verification


@click.command(
    epilog=(
        "Examples: repro verify run; repro verify run --level rescore; repro verify run --level retrain "
        "--algorithm EASE; repro verify reports/cross-framework-ml100k"
    )
)
@click.argument("run", type=click.Path(file_okay=False))
@click.option(
    "--level",
    type=click.Choice(["integrity", "rescore", "retrain"]),
    default="integrity",
    show_default=True,
    help="Files against the journal; also numbers from what was stored; also everything fitted again.",
)
@click.option(
    "--head",
    metavar="DIGEST",
    help="A hash that was published of a line of the journal, such as its last one: the journal must have it.",
)
@kept_data_option
@algorithms_option
@tolerance_option
@baseline_option
@click.option("--workers", type=click.IntRange(1), help="Cells are fitted in that many processes [default: all cores].")
@quiet_option
@json_option
def verify(
    run: str,
    level: str,
    head: str | None,
    data: str | None,
    algorithms: tuple[str, ...],
    tolerance: float,
    baseline: str | None,
    workers: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Verify a run: file integrity, recomputed metrics, or full retraining.

    RUN is the folder of a run, or one that keeps some files of it, as those under reports/ do. Each level includes the
    ones before. What does not hold is told with the file, the line of the journal and the users, and the exit code is
    1. --algorithm, --tolerance, --baseline and --workers are for retrain.
    """
    from repro.verify import verify as check

    with Replicating(hidden=quiet or as_json) as watcher:
        refit = {}
        if level == "retrain":
            refit = {
                "algorithms": algorithms or None,
                "tolerance": tolerance,
                "baseline": baseline,
                "workers": workers or os.cpu_count() or 1,
                "watcher": watcher,
            }
        found = check(run, level, head=head, data=data, tell=watcher.tell, **refit)  # type: ignore[arg-type]
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    if not found.holds:
        raise click.exceptions.Exit(1)


def _print(found: Verification) -> None:
    echo(Styled(found.summary, fg="green" if found.holds else "red"))
    for line in found.details:
        echo(f"  {line}")
    if found.refitted is not None:
        echo()
        print_comparison(found.refitted)
