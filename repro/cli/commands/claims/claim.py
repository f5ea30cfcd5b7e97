"""`repro claim`: write and check claim files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.help_text import Group
from repro.cli.options.evaluator_options import complete_data
from repro.cli.options.option_classes import command, option
from repro.cli.options.protocol_options import complete_protocol
from repro.cli.options.shared_options import FOLDER, JsonOption
from repro.cli.output import Styled, echo, json_option, print_json, print_table
from repro.text import plural

if TYPE_CHECKING:
    from repro.replications.check import ClaimCheck
    from repro.replications.claims.draft import Draft


@click.group(
    cls=Group,
    epilog=(
        "Examples: repro claim new --table table.tex; "
        "repro claim check reports/replications/surprise-readme-ml100k/claim.toml"
    ),
)
def claim() -> None:
    """Write a claim about published numbers, and check what its source leaves open."""


@claim.command(epilog="Example: repro claim check reports/replications/surprise-readme-ml100k/claim.toml")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@json_option
def check(file: str, as_json: bool) -> None:
    """Show what the source leaves open, what would be run, and what is missing for it; nothing is run."""
    from repro.replications import Claim

    checked = Claim.load(file).check()
    if as_json:
        print_json(checked.to_dict())
        return
    _print(checked)


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
    table: str | None = option("Printed numbers: a CSV file or LaTeX.", type=click.Path(exists=True, dir_okay=False))
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
    "repro claim new --table table.tex --into replications/their-paper",
    group=claim,
)
def new(options: NewClaimOptions) -> None:
    """Write a claim file: from a table in CSV or LaTeX, or by asking.

    With --table nothing is asked: what is not known has a comment that says what to fill in.
    """
    from repro.errors import StudyError
    from repro.replications.claims.claim import FILE
    from repro.replications.claims.draft import Draft
    from repro.replications.claims.printed_table import read_table

    target = Path(options.into) / FILE
    if target.exists():
        raise StudyError(f"{target} is there already; choose another folder with --into")
    draft = Draft(options.title, options.source, options.data, options.protocol)
    if options.table is not None:
        draft.table = read_table(options.table)
    else:
        _ask(draft)
    text = draft.write(target)
    to_fill_in = [line.strip() for line in text.splitlines() if "# fill in" in line]
    notes = list(draft.table.notes) if draft.table else []
    if options.as_json:
        print_json({"claim": str(target), "notes": notes, "to_fill_in": to_fill_in})
        return
    for note in notes:
        echo(f"assumed: {note}")
    echo(f"written  {target}; {plural(len(to_fill_in), 'line')} to fill in (`repro claim check {target}`)")


def _ask(draft: Draft) -> None:
    """Title, source, data, protocol, metrics and algorithms, one question each."""
    from repro.replications.claims.draft import BASE, algorithm_of

    draft.title = draft.title or click.prompt("What is claimed, in a few words")
    draft.source = draft.source or click.prompt("Where it was printed")
    draft.data = draft.data or click.prompt("Data set (`repro data list`) or file", default="ml-100k")
    draft.protocol = draft.protocol or click.prompt("Protocol (`repro protocol list`)", default=BASE)
    metrics_text = click.prompt("Metrics, with commas between them", default="rmse, mae")
    draft.metrics = tuple(name.strip() for name in metrics_text.split(",") if name.strip())
    labels = click.prompt("Algorithms as the table labels them, with commas between them")
    for label in (part.strip() for part in labels.split(",") if part.strip()):
        algorithm = algorithm_of(label)
        draft.algorithms[label] = click.prompt(
            f"{label} is (framework/algorithm)", default=algorithm or "reference/random"
        )
