"""`repro replicate`: published numbers, run again and judged."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.output import Styled, echo, json_option, print_json, print_table
from repro.cli.progress import Replicating, quiet_option

if TYPE_CHECKING:
    from repro.replicate import Budget, Judgement, Options, Replication

_SHOWN = 100  # characters of a reason in the table; all of it is in the report


@click.command(
    epilog=(
        "Examples: repro replicate reports/replications/surprise-readme-ml100k/claim.toml; "
        "repro replicate reports/replications --workers 4; repro replicate claim.toml --seeds 5 --newer"
    )
)
@click.argument("path", type=click.Path(exists=True))
@click.option(
    "--resume/--fresh",
    "resume",
    default=True,
    help="Keep what is finished and go on with the rest, or run everything anew [default: --resume].",
)
@click.option("--seeds", type=click.IntRange(1), help="Run with so many seeds [default: those of the claim].")
@click.option("--newer", is_flag=True, help="Also run the versions of frameworks that are installed here.")
@click.option("--installed", is_flag=True, help="Run those alone, whatever the claim pins.")
@click.option("--install", is_flag=True, help="Build the environments of frameworks that are missing.")
@click.option(
    "--budget",
    type=click.IntRange(1),
    default=400,
    show_default=True,
    help="Protocols that are tried for numbers that differ.",
)
@click.option(
    "--refits", type=click.IntRange(1), default=8, show_default=True, help="Settings of what is open that are fitted."
)
@click.option("--workers", type=click.IntRange(1), help="Cells run in that many processes [default: all cores].")
@click.option("--strict", is_flag=True, help="End with status 1 unless every number is exact and every pattern holds.")
@quiet_option
@json_option
def replicate(
    path: str,
    resume: bool,
    seeds: int | None,
    newer: bool,
    installed: bool,
    install: bool,
    budget: int,
    refits: int,
    workers: int | None,
    strict: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Replicate the claims of papers and pages: a verdict for each published number.

    PATH is a claim file, or a folder: all claim.toml below it, with a page of verdicts and a README. Verdicts, report
    and journal are written beside each claim.

    A framework that cannot be built, imported or run stops its own numbers only.

    \b
    Exit status:
      0  everything was run, whatever the verdicts
      1  something was not run: data, a framework, or a claim that cannot be read;
         with --strict also: a number is not exact, or a pattern does not hold
      2  the command was called wrongly
    """
    from repro.replicate import Budget, Options, claims_below

    if newer and installed:
        raise click.UsageError("--newer runs both what the claim pins and what is installed, --installed only that")
    files = claims_below(Path(path)) if Path(path).is_dir() else [Path(path)]
    if not files:
        raise click.UsageError(f"there is no claim.toml below {path}; `repro claim new` writes one")
    with Replicating(hidden=quiet or as_json) as watcher:
        options = Options(
            workers=workers or os.cpu_count() or 1,
            fresh=not resume,
            installed=installed,
            watcher=watcher,
            build=watcher.say if install else None,
        )
        replications = [
            (
                file.parent,
                _one(file, Path(path).is_dir(), watcher, seeds, newer, options, Budget(refits=refits, search=budget)),
            )
            for file in files
        ]
    several = Path(path).is_dir()
    index = _index(Path(path), replications) if several else None
    if as_json:
        summaries = [replication.to_dict() for _, replication in replications]
        print_json({"claims": summaries, "summary": _summary(replications)} if several else summaries[0])
    elif several:
        _print_all(replications)
    else:
        _print_one(replications[0][1])
    if not as_json:
        echo(f"\nreport   {index or files[0].parent / 'report.html'}")
        echo(_summary(replications))
    if not as_json and (left := _left(replications)):
        echo(left, err=True)
    if _left(replications) or (strict and not _all_exact(replications)):
        raise click.exceptions.Exit(1)


def _left(replications: list[tuple[Path, Replication]]) -> str:
    """What was not run, in a sentence; empty where everything was."""
    numbers = sum(
        judgement.verdict == "not run" for _, replication in replications for judgement in replication.judgements
    )
    claims = sum(not replication.judgements for _, replication in replications)
    parts = [f"{numbers} of the numbers, figures and patterns"] if numbers else []
    parts += [f"{claims} claim{'' if claims == 1 else 's'} cannot be read"] if claims else []
    return f"Not everything was run: {', and '.join(parts)}; the reasons stand beside each." if parts else ""


def _all_exact(replications: list[tuple[Path, Replication]]) -> bool:
    return all(
        judgement.verdict in ("exact", "holds")
        for _, replication in replications
        for judgement in replication.judgements
    )


def _one(
    file: Path,
    among_others: bool,
    watcher: Replicating,
    seeds: int | None,
    newer: bool,
    options: Options,
    budget: Budget,
) -> Replication:
    """One claim; among others, one that cannot be read or run does not stop them."""
    from repro.errors import ReproError
    from repro.replicate import Claim, Replication
    from repro.replicate import replicate as run_claim
    from repro.report.replicate import write_page

    watcher.begin(file.parent.name or file.name)
    try:
        claim = Claim.load(file)
        replication = run_claim(claim, seeds=seeds, newer=newer, options=options, budget=budget, progress=watcher.tell)
    except ReproError as error:
        if not among_others:
            raise
        echo(f"{file}: {error}", err=True)
        return Replication(file.parent.name, file.parent.name, "", (), notes=(str(error),))
    write_page(claim, replication)
    return replication


def _index(folder: Path, replications: list[tuple[Path, Replication]]) -> Path:
    from repro.report.replicate import write_index

    return write_index(folder, replications)


def _summary(replications: list[tuple[Path, Replication]]) -> str:
    from repro.replicate.verdicts.judgement import counted, in_words

    return in_words(counted(judgement for _, replication in replications for judgement in replication.judgements))


def _print_all(replications: list[tuple[Path, Replication]]) -> None:
    rows = [
        [
            replication.name,
            replication.title,
            replication.summary if replication.judgements else "cannot be run: " + "; ".join(replication.notes),
        ]
        for _, replication in replications
    ]
    print_table(["claim", "title", "verdicts"], rows)


def _print_one(replication: Replication) -> None:
    numbers = [judgement for judgement in replication.judgements if judgement.printed is not None]
    if numbers:
        header = ["", "number", "under", "printed", "measured", "over the seeds", "verdict", "why"]
        rows = [_row(judgement) for judgement in numbers]
        kept = [at for at, name in enumerate(header) if not name or any(row[at] for row in rows)]
        print_table(
            [header[at] for at in kept],
            [[row[at] for at in kept] for row in rows],
            title=replication.title,
            right=[name for name in ("printed", "measured", "over the seeds") if header.index(name) in kept],
        )
    for judgement in (judgement for judgement in replication.judgements if judgement.what == "pattern"):
        echo(Styled(judgement.verdict), f": {judgement.algorithm}: {judgement.why}")
    for search in replication.searches:
        echo(f"\n{search.metric}: {search.sentence}")
    for note in replication.notes:
        echo(f"\n{note}")


def _row(judgement: Judgement) -> list[str]:
    printed = judgement.printed
    assert printed is not None
    under = ", ".join(filter(None, (judgement.under, *(f"{key}={value}" for key, value in judgement.changes))))
    spread = "" if judgement.spread is None else " to ".join(printed.shown(end) for end in judgement.spread)
    why = judgement.why if len(judgement.why) <= _SHOWN else judgement.why[: _SHOWN - 1] + "…"
    metric = judgement.metric + (f", user {judgement.user}" if judgement.user else "")
    measured = printed.shown(judgement.value) if judgement.values else ""
    return [judgement.algorithm, metric, under, printed.text, measured, spread, judgement.verdict, why]
