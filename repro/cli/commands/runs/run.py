"""`repro run`: a study from its file to its table."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from repro.cli.finding_footnotes import marked, print_footnotes
from repro.cli.options.protocol_options import complete_change, read_changes
from repro.cli.output import echo, json_option, print_json, print_table
from repro.cli.progress import Progress, quiet_option

if TYPE_CHECKING:
    from repro.runs.run import Run
    from repro.study import Study


def complete_address(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of addresses, or the beginning of one."""
    offered = {
        "auto": "the cluster that this machine is in",
        "local": "one that is started for this run",
        "ray://": "a cluster elsewhere, by its host and port",
    }
    return [CompletionItem(text, help=what) for text, what in offered.items() if text.startswith(incomplete)]


@click.command(
    epilog=(
        "Examples: repro run reports/reference-ml100k/study.toml; "
        "repro run study.toml --set ties.break=expected --into expected; "
        "repro run study.toml --executor ray --address auto"
    )
)
@click.argument("study", type=click.Path(dir_okay=False))
@click.option("--into", type=click.Path(file_okay=False), help="The run folder [default: run/ beside the study].")
@click.option("--resume", is_flag=True, help="Finish a run that was cut off, or begin it.")
@click.option("--fresh", is_flag=True, help="Replace the run that is in the folder.")
@click.option("--workers", type=click.IntRange(1), help="Cells run in that many processes [default: all cores].")
@click.option(
    "--executor",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where cells run: on this machine, or on a Ray cluster.",
)
@click.option(
    "--address",
    shell_complete=complete_address,
    help="The Ray cluster: auto (the one that this machine is in), ray://HOST:PORT, HOST:PORT, or local (one that is "
    "started for this run) [default: auto].",
)
@click.option("--block-users", type=click.IntRange(1), help="Users ranked at once; changes memory, not numbers.")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="DECISION=VALUE",
    shell_complete=complete_change,
    help="Change a decision of the protocol.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="How long a framework in a process of its own may take to fit, or to score a block of users.",
)
@click.option("--keep-scores", is_flag=True, help="Keep all scores, for `repro explain` and `repro multiverse`.")
@quiet_option
@json_option
def run(
    study: str,
    into: str | None,
    resume: bool,
    fresh: bool,
    workers: int | None,
    executor: str,
    address: str | None,
    block_users: int | None,
    changes: tuple[str, ...],
    time_limit: float | None,
    keep_scores: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run a study and write a run folder.

    STUDY is a TOML file with data, protocol, algorithms and metrics.
    """
    from repro.evaluation.execution import BLOCK_USERS
    from repro.report import write_report
    from repro.study import RunOptions, run_study
    from repro.study import Study as StudyFile

    asked = StudyFile.load(study)
    if changes:
        asked = asked.with_protocol(asked.protocol.replace(read_changes(changes), "command line"))
    if not as_json:
        for reason in dict.fromkeys(asked.left_out.values()):
            echo(f"left out: {reason}", err=True)
    target = Path(into) if into else Path(study).parent / "run"
    with Progress(hidden=quiet or as_json) as watcher:
        options = RunOptions(
            workers=workers or (os.cpu_count() if executor == "local" else None),
            executor=executor,
            address=address,
            block_users=block_users or BLOCK_USERS,
            time_limit=time_limit,
            keep_scores=keep_scores,
            resume=resume,
            fresh=fresh,
            watcher=watcher,
        )
        results = run_study(asked, target, options)
    report = write_report(results)
    if as_json:
        print_json(
            {
                "folder": str(results.folder),
                "protocol": asked.protocol.hash,
                "results": results.results.to_dict(orient="records"),
                "findings": [asdict(finding) for finding in results.findings],
                "seconds": results.seconds().to_dict(orient="index"),
                "left_out": asked.left_out,
            }
        )
        return
    _print_results(asked, results)
    echo(f"\nreport   {report}\nrun      {results.folder}")


def _print_results(study: Study, results: Run) -> None:
    from repro.evaluation.suspicion import summaries
    from repro.runs.tuning_history import uneven_tuning

    suspicious = summaries(results.findings)
    table, seconds = results.table(), results.seconds()
    times = [f"{name} s" for name in seconds.columns]
    print_table(
        ["algorithm", *table.columns, *times],
        [
            [
                marked(label, suspicious),
                *("-" if value != value else f"{value:.4f}" for value in row),
                *map("{:.2f}".format, took),
            ]
            for label, row, took in zip(table.index, table.to_numpy(), seconds.loc[table.index].to_numpy(), strict=True)
        ],
        title=study.question or f"protocol {study.protocol.name}",
        right=[*table.columns, *times],
    )
    print_footnotes(suspicious)
    echo(f"({' and '.join(times)}: seconds that the framework took on a fold, the median of all folds)")
    if uneven := uneven_tuning(results.tuned()):
        echo(f"\n{uneven}")
    echo("\nWhat the decisions touched (where several cells differ, in the one with most; all are in the journal):")
    for sentence in results.most_touched():
        echo(f"  {sentence}")
