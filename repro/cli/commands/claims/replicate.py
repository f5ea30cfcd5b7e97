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
        found = [
            (
                file.parent,
                _one(file, Path(path).is_dir(), watcher, seeds, newer, options, Budget(refits=refits, search=budget)),
            )
            for file in files
        ]
    several = Path(path).is_dir()
    index = _index(Path(path), found) if several else None
    if as_json:
        told = [one.to_dict() for _, one in found]
        print_json({"claims": told, "summary": _summary(found)} if several else told[0])
    elif several:
        _print_all(found)
    else:
        _print_one(found[0][1])
    if not as_json:
        echo(f"\nreport   {index or files[0].parent / 'report.html'}")
        echo(_summary(found))
    if not as_json and (left := _left(found)):
        echo(left, err=True)
    if _left(found) or (strict and not _all_exact(found)):
        raise click.exceptions.Exit(1)


def _left(found: list[tuple[Path, Replication]]) -> str:
    """What was not run, in a sentence; empty where everything was."""
    numbers = sum(one.verdict == "not run" for _, each in found for one in each.judgements)
    claims = sum(not each.judgements for _, each in found)
    told = [f"{numbers} of the numbers, figures and patterns"] if numbers else []
    told += [f"{claims} claim{'' if claims == 1 else 's'} cannot be read"] if claims else []
    return f"Not everything was run: {', and '.join(told)}; the reasons stand beside each." if told else ""


def _all_exact(found: list[tuple[Path, Replication]]) -> bool:
    return all(one.verdict in ("exact", "holds") for _, each in found for one in each.judgements)


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
        found = run_claim(claim, seeds=seeds, newer=newer, options=options, budget=budget, progress=watcher.tell)
    except ReproError as error:
        if not among_others:
            raise
        echo(f"{file}: {error}", err=True)
        return Replication(file.parent.name, file.parent.name, "", (), notes=(str(error),))
    write_page(claim, found)
    return found


def _index(folder: Path, found: list[tuple[Path, Replication]]) -> Path:
    from repro.report.replicate import write_index

    return write_index(folder, found)


def _summary(found: list[tuple[Path, Replication]]) -> str:
    from repro.replicate.verdicts.judgement import counted, in_words

    return in_words(counted(one for _, each in found for one in each.judgements))


def _print_all(found: list[tuple[Path, Replication]]) -> None:
    rows = [
        [one.name, one.title, one.summary if one.judgements else "cannot be run: " + "; ".join(one.notes)]
        for _, one in found
    ]
    print_table(["claim", "title", "verdicts"], rows)


def _print_one(found: Replication) -> None:
    numbers = [one for one in found.judgements if one.printed is not None]
    if numbers:
        header = ["", "number", "under", "printed", "measured", "over the seeds", "verdict", "why"]
        rows = [_row(one) for one in numbers]
        kept = [at for at, name in enumerate(header) if not name or any(row[at] for row in rows)]
        print_table(
            [header[at] for at in kept],
            [[row[at] for at in kept] for row in rows],
            title=found.title,
            right=[name for name in ("printed", "measured", "over the seeds") if header.index(name) in kept],
        )
    for one in (each for each in found.judgements if each.what == "pattern"):
        echo(Styled(one.verdict), f": {one.algorithm}: {one.why}")
    for search in found.searches:
        echo(f"\n{search.metric}: {search.sentence}")
    for note in found.notes:
        echo(f"\n{note}")


def _row(one: Judgement) -> list[str]:
    printed = one.printed
    assert printed is not None
    under = ", ".join(filter(None, (one.under, *(f"{key}={value}" for key, value in one.changes))))
    spread = "" if one.spread is None else " to ".join(printed.shown(end) for end in one.spread)
    why = one.why if len(one.why) <= _SHOWN else one.why[: _SHOWN - 1] + "…"
    metric = one.metric + (f", user {one.user}" if one.user else "")
    measured = printed.shown(one.value) if one.values else ""
    return [one.algorithm, metric, under, printed.text, measured, spread, one.verdict, why]
