"""`repro review`: the files of somebody's split, recounted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from repro.cli.exit_codes import FAILED
from repro.cli.options.option_classes import argument, command, count_option, option
from repro.cli.options.shared_options import FILE, SHARE, ProgressOptions, into_option
from repro.cli.output import Styled, echo, print_json, print_table
from repro.text import plural

if TYPE_CHECKING:
    from repro.reviews import Finding, Paper, Review

_COLOURS = {"error": "red", "warning": "yellow", "undetermined": "blue"}


@dataclass(frozen=True, kw_only=True)
class ReviewOptions(ProgressOptions):
    folder: str = argument(type=click.Path(exists=True, file_okay=False))
    paper: str | None = option("What the paper states, as TOML: names as below, and tables [data.NAME].", type=FILE)
    users: int | None = count_option("Stated number of users.")
    items: int | None = count_option("Stated number of items.")
    rows: int | None = count_option("Stated number of rows of all parts.")
    train_rows: int | None = count_option("Stated number of training rows.")
    validation_rows: int | None = count_option("Stated number of validation rows.")
    test_rows: int | None = count_option("Stated number of test rows.")
    test_users: int | None = count_option("Stated number of test users.")
    user_core: int | None = count_option("Stated least number of rows of each user.")
    item_core: int | None = count_option("Stated least number of rows of each item.")
    min_rating: float | None = option("Stated lowest rating.", type=float)
    split: str | None = option("Stated split.", type=click.Choice(["leave-one-out", "user-ratio", "ratio"]))
    order: str | None = option("Stated choice of held-out rows.", type=click.Choice(["time", "random"]))
    test_share: float | None = option("Stated share of test rows.", type=SHARE)
    test_per_user: int | None = count_option("Stated number of test rows of each test user.")
    negatives: int | None = count_option("Stated number of negatives of each list.")
    roles: tuple[str, ...] = option(
        "The role of a file, by name or pattern: train, validation, test, negatives, fold-in, run, whole or other; may "
        "be repeated.",
        "--role",
        multiple=True,
        metavar="FILE=ROLE",
    )
    numbers: str | None = option("Printed numbers of the run files: CSV, JSON, Markdown, LaTeX or a claim.", type=FILE)
    into: str | None = into_option("Write review.html and review.json into this folder.")
    all_notes: bool = option("Also print notes, such as counts and shares.", "--notes", is_flag=True)


_STATED = (
    *("users", "items", "rows", "train_rows", "validation_rows", "test_rows", "test_users", "user_core", "item_core"),
    *("min_rating", "split", "order", "test_share", "test_per_user", "negatives"),
)


@command(
    "repro review their-data --into review",
    "repro review their-data --split leave-one-out --order time --negatives 99",
    "repro review their-data --paper paper.toml --role data1.txt=train --json",
    "repro review their-data --numbers table.csv",
)
def review(options: ReviewOptions) -> None:
    """Recount the files of a split: leaks, negatives, sizes, and whether it is what the paper states.

    FOLDER has training, validation and test files, negatives, or all rows in a file, in any usual format; also runs,
    whose printed numbers are searched for the protocol that gives them. What cannot be told from the files is
    "undetermined". Nothing in the folder is executed: pickles are refused. The exit code is 1 where there are errors.
    """
    from repro.reviews import review as review_folder

    result = review_folder(
        options.folder,
        paper=_paper(options),
        roles=_roles(options.roles),
        numbers=options.numbers,
        progress=not options.hidden,
    )
    written = None
    if options.into:
        from pathlib import Path

        from repro.reports.review import write_review

        written = write_review(result, Path(options.into))
    if options.as_json:
        print_json(result.to_dict())
    else:
        _print(result, options.all_notes)
        if written:
            echo(f"\nwritten  {written}")
    if result.counts["error"]:
        raise click.exceptions.Exit(FAILED)


def _paper(options: ReviewOptions) -> Paper:
    from dataclasses import replace

    from repro.reviews import Paper, Stated, read_paper

    stated = {name: value for name in _STATED if (value := getattr(options, name)) is not None}
    if options.paper is None:
        return Paper(Stated(**stated))
    paper = read_paper(options.paper)
    return replace(paper, general=replace(paper.general, **stated))


def _roles(texts: tuple[str, ...]) -> dict[str, str]:
    roles = {}
    for text in texts:
        name, equals, role = text.rpartition("=")
        if not equals or not name:
            raise click.BadParameter(f"'{text}' must be FILE=ROLE, such as data1.txt=train", param_hint="--role")
        roles[name] = role
    return roles


def _print(result: Review, all_notes: bool) -> None:
    echo(Styled(result.summary))
    header = ["file", "role", "recognised", "rows", "users", "items"]
    rows = [
        [file.name, file.role, file.how, *("-" if n is None else f"{n:,}" for n in (file.rows, file.users, file.items))]
        for file in result.files
        if all_notes or file.role != "other"
    ]
    if rows:
        echo()
        print_table(header, rows, right=header[3:], spare=["recognised"])
    others = sum(file.role == "other" for file in result.files)
    if others and not all_notes:
        echo(f"{plural(others, 'file')} without rows of users and items, by name")
    for file in result.unread:
        echo(f"{'refused' if file.refused else 'not read'}: {file.name}: {file.reason}")
    for data in ("", *result.data_sets):
        findings = [one for one in result.about(data) if all_notes or one.severity != "note" or one.check in _ALWAYS]
        if findings:
            echo("\n", Styled(data or "the folder"))
            for finding in findings:
                _print_finding(finding)
    if result.numbers:
        echo()
        header = ["system", "metric", "printed", "nearest", "protocols", "which"]
        cells = [
            [
                *(number.system, number.metric, number.printed),
                "-" if number.nearest is None else f"{number.nearest:.5f}",
                *(f"{number.fitting} of {number.tried}", number.which),
            ]
            for number in result.numbers
        ]
        print_table(header, cells, right=header[2:4], title="printed numbers from the run files")
    hidden = sum(one.severity == "note" and one.check not in _ALWAYS for one in result.findings)
    if hidden and not all_notes:
        echo(f"\n{plural(hidden, 'note')} not shown; --notes, --into and --json have all of them")


_ALWAYS = ("identified", "sizes", "printed-numbers")  # notes that are always printed


def _print_finding(finding: Finding) -> None:
    echo(Styled(f"{finding.severity}: ", fg=_COLOURS.get(finding.severity)), finding.text)
    if finding.severity != "note":
        for example in finding.examples[:2]:
            echo(f"    {example.sentence}")
