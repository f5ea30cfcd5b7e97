"""`repro replicate`: run published numbers again and judge them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.options.option_classes import argument, command, count_option, flag, option
from repro.cli.options.shared_options import ProgressOptions, workers_option
from repro.cli.output import Styled, echo, print_json, print_table
from repro.cli.progress import Progress
from repro.text import plural

if TYPE_CHECKING:
    from repro.replications import Claim, Judgement, Replication

_REASON = 100  # characters of a reason in the table; the report has all of it


@dataclass(frozen=True, kw_only=True)
class ReplicateOptions(ProgressOptions):
    path: Path = argument(type=click.Path(exists=True, path_type=Path))
    resume: bool = option(
        "Keep finished work and run the rest, or run everything again [default: --resume].",
        "--resume/--fresh",
        default=True,
        show_default=False,
    )
    seeds: int | None = count_option("Number of seeds to run with [default: those of the claim].")
    newer: bool = flag("Also run the installed versions of frameworks.")
    installed: bool = flag("Run only the installed versions, whatever the claim pins.")
    install: bool = flag("Build the environments of missing frameworks.")
    budget: int = count_option("Number of protocols that are tried for numbers that differ.", 400)
    refits: int = count_option("Number of settings of open decisions that are fitted.", 8)
    search: bool = option(
        "Search for what explains numbers that the claim's own setting does not give, or not [default: --search].",
        "--search/--no-search",
        default=True,
        show_default=False,
    )
    search_seconds: float | None = option(
        "End the search for each claim after so many seconds; verdicts stand, and the next call goes on.",
        type=click.FloatRange(min=0, min_open=True),
    )
    workers: int = workers_option("Number of processes that run cells.")
    strict: bool = flag("End with exit code 1 unless every number is exact and every pattern holds.")


@command(
    "repro replicate reports/replications/surprise-readme-ml100k/claim.toml",
    "repro replicate reports/replications --workers 4",
    "repro replicate claim.toml --seeds 5 --newer",
    "repro replicate claim.toml --search-seconds 600",
)
def replicate(options: ReplicateOptions) -> None:
    """Replicate the claims of papers and pages: a verdict for each published number.

    PATH is a claim file, or a folder: all claim.toml below it, with a page of verdicts and a README. Verdicts, report
    and journal are written next to each claim.

    The verdicts by the claim's own setting come first, each as soon as it is known. The search for what explains the
    other numbers follows; Ctrl-C or --search-seconds ends it, the verdicts stand, and the next call goes on.

    A framework that cannot be built, imported or run stops its own numbers only.

    \b
    Exit codes:
      0  everything was run, whatever the verdicts
      1  something was not run: data, a framework, or a claim that cannot be read;
         with --strict also: a number is not exact, or a pattern does not hold
      2  the command was called wrongly
    """
    from repro.replications import claims_below
    from repro.replications.verdicts.judgement import counted, in_words
    from repro.reports.replicate import write_index

    if options.newer and options.installed:
        raise click.UsageError("--newer runs both the pinned and the installed versions, --installed only the latter")
    is_folder = options.path.is_dir()
    files = claims_below(options.path) if is_folder else [options.path]
    if not files:
        raise click.UsageError(f"there is no claim.toml below {options.path}; `repro claim new` writes one")
    with Progress(hidden=options.hidden) as watcher:
        replications = [(file.parent, _replicate(file, options, watcher)) for file in files]
    report = write_index(options.path, replications) if is_folder else files[0].parent / "report.html"
    judgements = [judgement for _, replication in replications for judgement in replication.judgements]
    summary = in_words(counted(judgements))
    unfinished = _unfinished([replication for _, replication in replications])
    if options.as_json:
        results = [replication.to_dict() for _, replication in replications]
        print_json({"claims": results, "summary": summary} if is_folder else results[0])
    else:
        if is_folder:
            _print_all([replication for _, replication in replications])
        else:
            _print_one(replications[0][1])
        echo(f"\nreport   {report}")
        echo(summary)
        if unfinished:
            echo(unfinished, err=True)
    all_exact = all(judgement.verdict in ("exact", "holds") for judgement in judgements)
    if unfinished or (options.strict and not all_exact):
        raise click.exceptions.Exit(1)


def _unfinished(replications: list[Replication]) -> str:
    """A sentence about what was not run; empty if everything was."""
    numbers = sum(judgement.verdict == "not run" for each in replications for judgement in each.judgements)
    claims = sum(not replication.judgements for replication in replications)
    parts = [f"{numbers} of the numbers, figures and patterns"] if numbers else []
    parts += [f"{plural(claims, 'claim')} cannot be read"] if claims else []
    return f"Not everything was run: {', and '.join(parts)}; the report gives the reasons." if parts else ""


def _replicate(file: Path, options: ReplicateOptions, watcher: Progress) -> Replication:
    """Replicate a claim; in a folder of claims, an error about one of them does not stop the others."""
    from repro.errors import ReproError
    from repro.replications import Budget, Claim, Options, Replication
    from repro.replications import replicate as run_claim
    from repro.reports.replicate import write_page

    watcher.begin(file.parent.name or file.name)
    try:
        claim = Claim.load(file)
        replication = run_claim(
            claim,
            seeds=options.seeds,
            newer=options.newer,
            options=Options(
                workers=options.workers,
                fresh=not options.resume,
                installed=options.installed,
                watcher=watcher,
                build=watcher.print if options.install else None,
                known=None if options.hidden else lambda judgement: watcher.print(_line(judgement)),
                own=lambda own: _write_own(claim, own, watcher),
                say=None if options.hidden else watcher.print,
            ),
            budget=Budget(
                refits=options.refits, search=options.budget, seconds=options.search_seconds, off=not options.search
            ),
            progress=watcher.update,
        )
    except ReproError as error:
        if not options.path.is_dir():
            raise
        echo(f"{file}: {error}", err=True)
        return Replication(file.parent.name, file.parent.name, "", (), notes=(str(error),))
    write_page(claim, replication)
    return replication


def _write_own(claim: Claim, own: Replication, watcher: Progress) -> None:
    """Write the page with the verdicts by the claim's own setting, before the search for explanations."""
    from repro.reports.replicate import write_page

    page = write_page(claim, own)
    watcher.print(f"by the claim's own setting: {own.summary}; written to {page}")


def _line(judgement: Judgement) -> str:
    """A judgement in one line: the verdict, the printed and the measured number, and which one it is."""
    printed = judgement.printed
    if printed is None:
        return f"{judgement.verdict}: {judgement.algorithm}"
    measured = printed.shown(judgement.value) if judgement.values else "–"
    under = f" under {judgement.where}" if judgement.where else ""
    return (
        f"{judgement.verdict:14} {printed.text:>10} {measured:>10}  {judgement.metric} of {judgement.algorithm}{under}"
    )


def _print_all(replications: list[Replication]) -> None:
    rows = [
        [
            replication.name,
            replication.title,
            replication.summary if replication.judgements else "cannot be run: " + "; ".join(replication.notes),
        ]
        for replication in replications
    ]
    print_table(["claim", "title", "verdicts"], rows)


def _print_one(replication: Replication) -> None:
    numbers = [judgement for judgement in replication.judgements if judgement.printed is not None]
    if numbers:
        header = ["", "number", "under", "printed", "measured", "over the seeds", "verdict", "why"]
        rows = [_row(judgement) for judgement in numbers]
        filled = [column for column, name in enumerate(header) if not name or any(row[column] for row in rows)]
        print_table(
            [header[column] for column in filled],
            [[row[column] for column in filled] for row in rows],
            title=replication.title,
            right=["printed", "measured", "over the seeds"],
        )
    for judgement in (judgement for judgement in replication.judgements if judgement.what == "pattern"):
        echo(Styled(judgement.verdict), f": {judgement.algorithm}: {judgement.why}")
    for cause in replication.causes:
        echo("\n", Styled(cause.kind), f": {cause.sentence}")
    for search in replication.searches:
        echo(f"\n{search.metric}: {search.sentence}")
    for note in replication.notes:
        echo(f"\n{note}")


def _row(judgement: Judgement) -> list[str]:
    printed = judgement.printed
    assert printed is not None
    under = ", ".join(filter(None, (judgement.where, *(f"{key}={value}" for key, value in judgement.changes))))
    spread = "" if judgement.spread is None else " to ".join(printed.shown(end) for end in judgement.spread)
    why = judgement.why if len(judgement.why) <= _REASON else judgement.why[: _REASON - 1] + "…"
    metric = judgement.metric + (f", user {judgement.user}" if judgement.user else "")
    measured = printed.shown(judgement.value) if judgement.values else ""
    return [judgement.algorithm, metric, under, printed.text, measured, spread, judgement.verdict, why]
