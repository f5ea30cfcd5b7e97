"""`repro run`: run a study."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.options.option_classes import argument, command, completes, count_option, filled, flag, option
from repro.cli.options.protocol_options import ChangeOptions
from repro.cli.options.shared_options import FILE, ProgressOptions, into_option, time_limit_option
from repro.cli.output import echo, marked, print_footnotes, print_json, print_table, written_number
from repro.cli.progress import Progress

if TYPE_CHECKING:
    from repro.runs.run import Run
    from repro.study import Study


@completes()
def complete_address(text: str) -> dict[str, str]:
    """The names of addresses, or the beginning of one."""
    return {
        "auto": "the cluster that this machine is in",
        "local": "a cluster that is started for this run",
        "ray://": "another cluster, by its host and port",
    }


@dataclass(frozen=True, kw_only=True)
class RunCommandOptions(ChangeOptions, ProgressOptions):
    study: str = argument(type=FILE)
    into: str | None = into_option("The run folder [default: run/ next to the study].")
    resume: bool = flag("Finish an interrupted run, or begin it.")
    fresh: bool = flag("Replace the run that is in the folder.")
    workers: int | None = count_option("Number of processes that run cells [default: all cores].")
    executor: str = option(
        "Where cells run: on this machine, or on a Ray cluster.", type=click.Choice(["local", "ray"]), default="local"
    )
    address: str | None = option(
        "The Ray cluster: auto (the one that this machine is in), ray://HOST:PORT, HOST:PORT, or local (one that "
        "is started for this run) [default: auto].",
        metavar="ADDRESS",
        shell_complete=complete_address,
    )
    block_users: int | None = count_option("Users ranked at once; changes memory, not numbers.")
    time_limit: float | None = time_limit_option()
    cell_seconds: float | None = option(
        "How long a cell (one algorithm on one fold) may take; one that takes longer is stopped and fails.",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
    )
    drop: tuple[str, ...] = option(
        "Go on without this algorithm, and leave it out of the results; may be repeated.", metavar="LABEL"
    )
    only: tuple[str, ...] = option(
        "Run only this algorithm; may be repeated. --resume runs the others later.", metavar="LABEL"
    )
    install: bool = flag("Build missing environments of frameworks first.")
    keep_scores: bool = flag("Store all scores, for `repro explain` and `repro multiverse`.")


@command(
    "repro run reports/reference-ml100k/study.toml",
    "repro run study.toml --set ties.break=expected --into expected",
    "repro run study.toml --executor ray --address auto",
    'repro run study.toml --resume --drop "EASE"',
)
def run(options: RunCommandOptions) -> None:
    """Run a study and write a run folder.

    STUDY is a TOML file with data, protocol, algorithms and metrics.
    """
    from repro.evaluation.blocks import BLOCK_USERS
    from repro.evaluation.metrics import reading_notes
    from repro.reports import write_report
    from repro.study import RunOptions, run_study
    from repro.study import Study as StudyFile

    study = StudyFile.load(options.study)
    if options.install and build_missing(study, hidden=options.hidden):
        study = StudyFile.load(options.study)
    if options.changes:
        study = study.with_protocol(study.protocol.replace(options.changed_decisions(), "command line"))
    if not options.as_json:
        for reason in dict.fromkeys(study.left_out.values()):
            echo(f"left out: {reason}", err=True)
        for note in reading_notes(study.metric_names):
            echo(f"note: {note}", err=True)
    target = Path(options.into) if options.into else Path(options.study).parent / "run"
    with Progress(hidden=options.hidden) as watcher:
        workers = options.workers or (os.cpu_count() if options.executor == "local" else None)
        users = options.block_users or BLOCK_USERS
        results = run_study(
            study, target, filled(RunOptions, options, workers=workers, block_users=users, watcher=watcher)
        )
    report = write_report(results)
    if options.as_json:
        print_json(
            {
                "folder": str(results.folder),
                "protocol": study.protocol.hash,
                "results": results.results.to_dict(orient="records"),
                "findings": [asdict(finding) for finding in results.findings],
                "seconds": results.seconds().to_dict(orient="index"),
                "left_out": {**study.left_out, **results.left_out},
            }
        )
        return
    _print_results(study, results)
    echo(f"\nreport   {report}\nrun      {results.folder}")


def build_missing(study: Study, *, hidden: bool) -> bool:
    """Build the environments of the frameworks that a study needs and that are missing here; whether there were any."""
    from repro.plugin import plugins
    from repro.plugin.isolation import environment
    from repro.progress import Stages

    named = [entry.framework for entry in study.entries if entry.location == "missing"]
    named += [use.partition("/")[0] for use in study.left_out if use.partition("/")[0] in plugins().frameworks]
    missing = [name for name in dict.fromkeys(named) if plugins().location(name) == "missing"]
    for name in missing:
        needs = plugins().environment_of(name)
        assert needs is not None
        with Stages(hidden=hidden) as stages:
            stages.print(f"{name}: building its environment")
            # Lines of pip are indented.
            environment.build(name, needs, lambda line: None if line.startswith(" ") else stages.print(line))
            stages.print(f"{name}: ready in {environment.folder_of(name, needs)}")
    return bool(missing)


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
                *(written_number(value, ".4f") for value in row),
                *map("{:.2f}".format, durations),
            ]
            for label, row, durations in zip(
                table.index, table.to_numpy(), seconds.loc[table.index].to_numpy(), strict=True
            )
        ],
        title=study.question or f"protocol {study.protocol.name}",
        right=[*table.columns, *times],
    )
    print_footnotes(suspicious)
    for label in results.journal.dropped:
        echo(results.left_out[label])
    echo(f"({' and '.join(times)}: seconds that the framework took on a fold, the median of all folds)")
    if uneven := uneven_tuning(results.tuned()):
        echo(f"\n{uneven}")
    echo("\nWhat the decisions changed (if cells differ, in the cell with most; the journal has all):")
    for sentence in results.most_touched():
        echo(f"  {sentence}")
