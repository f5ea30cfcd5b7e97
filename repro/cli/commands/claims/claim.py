"""`repro claim`: write and check claim files."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.help_text import Group
from repro.cli.options.evaluator_options import complete_data
from repro.cli.options.option_classes import argument, command, option
from repro.cli.options.protocol_options import complete_protocol
from repro.cli.options.shared_options import FOLDER, JsonOption
from repro.cli.output import Styled, echo, json_option, print_json, print_table
from repro.text import plural

if TYPE_CHECKING:
    from repro.replications.check import ClaimCheck
    from repro.replications.drafts.draft import Draft
    from repro.replications.drafts.raw import RawTable


@click.group(
    cls=Group,
    epilog=(
        "Examples: repro claim new table.tex; repro claim check reports/replications/surprise-readme-ml100k/claim.toml"
    ),
)
def claim() -> None:
    """Write a claim about published numbers, and check what its source leaves open."""


@claim.command(epilog="Example: repro claim check reports/replications/surprise-readme-ml100k/claim.toml")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@json_option
def check(file: str, as_json: bool) -> None:
    """Show all problems of a claim, what its source leaves open, and what would be run; nothing is run.

    Problems are places that are to be filled in, invalid entries, data that is not here, and digests of other data.
    With places to fill in, or invalid entries, the status is 1.
    """
    from repro.replications import Claim
    from repro.replications.claims.problems import problems_of

    problems = problems_of(file)
    unreadable = [problem for problem in problems if problem.kind in ("to fill in", "invalid")]
    checked = None if unreadable else Claim.load(file).check()
    if as_json:
        plain = {} if checked is None else checked.to_dict()
        print_json({**plain, "problems": [problem.to_dict() for problem in problems]})
    else:
        for problem in problems:
            place = f"{file}:{problem.line}" if problem.line else file
            echo(f"{place}: ", Styled(problem.kind), f": {problem.text}")
        if checked is not None:
            _print(checked)
    if unreadable:
        raise SystemExit(1)


def _print(checked: ClaimCheck) -> None:
    claim = checked.claim
    echo(Styled(claim.title), f"\n{claim.source}")
    kinds = [
        (len(claim.cells), "printed number"),
        (len(claim.facts), "figure of the data"),
        (len(claim.patterns), "pattern"),
    ]
    echo(", ".join(plural(number, noun) for number, noun in kinds if number))
    echo(f"tolerance: {claim.tolerance.sentence}")
    for protocol in checked.protocols:
        echo("")
        if protocol.open:
            fits = f", {protocol.fits} of them with a fit of its own" if protocol.fits > 1 else ""
            title = f"{protocol.name}: the source leaves open ({protocol.settings}{fits})"
            print_table(["decision", "question", "tried"], protocol.open, title=title)
        else:
            echo(f"{protocol.name}: no decision is declared as open")
        if protocol.assumed:
            echo("neither stated nor open, so by default: " + ", ".join(protocol.assumed))
    for run in checked.runs:
        echo(f"\nwould run: {run}")
    for requirement in checked.missing:
        echo("\n", Styled("missing"), f": {requirement}")


@dataclass(frozen=True, kw_only=True)
class NewClaimOptions(JsonOption):
    file: str | None = argument(
        required=False, default=None, type=click.Path(exists=True, dir_okay=False), metavar="[FILE]"
    )
    table: int | None = option("Which table of the file, if it has several.", type=click.IntRange(min=1), metavar="N")
    into: str = option("The folder of the claim.", type=FOLDER, default=".")
    title: str = option("What is claimed.", default="", show_default=False)
    source: str = option("Where it was printed.", default="", show_default=False)
    data: str = option(
        "A data set of `repro data list`, or a file.",
        default="",
        show_default=False,
        metavar="NAME|FILE",
        shell_complete=complete_data,
    )
    protocol: str = option(
        "The protocol that is nearest to the source.",
        default="",
        show_default=False,
        metavar="NAME|FILE",
        shell_complete=complete_protocol,
    )


@command(
    "repro claim new",
    "repro claim new table.tex --into replications/their-paper",
    group=claim,
)
def new(options: NewClaimOptions) -> None:
    """Write a claim file: from a printed table, or by asking.

    The FILE is LaTeX, an archive of LaTeX sources as arXiv gives it (.tar.gz, .zip), Markdown, or CSV. If it has
    several tables, they are listed, and --table chooses one. What is not known is marked with "?", and `repro claim
    check` lists it.
    """
    from repro.errors import StudyError
    from repro.replications.claims.claim import FILE
    from repro.replications.claims.unfilled import unfilled_places
    from repro.replications.drafts.draft import Draft, table_numbered
    from repro.replications.drafts.sources import printed_tables

    target = Path(options.into) / FILE
    if target.exists():
        raise StudyError(f"{target} is there already; choose another folder with --into")
    draft = Draft(options.title, options.source, options.data, options.protocol)
    if options.file is not None:
        tables = printed_tables(options.file)
        if len(tables) > 1 and options.table is None:
            _list_tables(tables, options.as_json)
            return
        draft.table = table_numbered(tables, options.table or 1)
    else:
        _ask(draft)
    places = dict(unfilled_places(tomllib.loads(draft.write(target))))
    if options.as_json:
        print_json({"claim": str(target), "notes": draft.notes, "to_fill_in": places})
        return
    for note in draft.notes:
        echo(f"assumed: {note}")
    echo(f"written  {target}; {plural(len(places), 'place')} to fill in (`repro claim check {target}`)")


def _list_tables(tables: Sequence[RawTable], as_json: bool) -> None:
    """The tables of a file, to choose from."""
    if as_json:
        listed = [{"table": n, "place": table.place, "caption": table.caption} for n, table in enumerate(tables, 1)]
        print_json({"tables": listed})
        return
    rows = [(str(n), table.place, table.caption or "without a caption") for n, table in enumerate(tables, 1)]
    print_table(["table", "place", "caption"], rows, title=f"{plural(len(tables), 'table')}; choose one with --table")


def _ask(draft: Draft) -> None:
    """Title, source, data, protocol, metrics and algorithms, one question each; an empty answer leaves a place open."""
    from repro.replications.drafts.draft import algorithm_of

    def ask(question: str) -> str:
        return str(click.prompt(question, default="", show_default=False)).strip()

    draft.title = draft.title or ask("What is claimed, in a few words")
    draft.source = draft.source or ask("Where it was printed")
    draft.data = draft.data or ask("Data set (`repro data list`) or file")
    draft.protocol = draft.protocol or ask("Protocol (`repro protocol list`)")
    metrics_text = click.prompt("Metrics, with commas between them")
    draft.metrics = tuple(name.strip() for name in metrics_text.split(",") if name.strip())
    labels = click.prompt("Algorithms as the table labels them, with commas between them")
    for label in (part.strip() for part in labels.split(",") if part.strip()):
        algorithm = algorithm_of(label)
        draft.algorithms[label] = click.prompt(
            f"{label} is (framework/algorithm)", default=algorithm, show_default=bool(algorithm)
        )
