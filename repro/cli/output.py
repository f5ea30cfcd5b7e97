"""Printing by commands: sentences and tables for people, JSON for scripts.

Everything that commands print passes here: text from files (ids, labels, questions, names, error messages) must not
control the terminal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from repro.terminal import printable, printable_json

if TYPE_CHECKING:
    from rich.console import Console

    from repro.evaluation.suspicion import Summary

_PIPED = 160  # width of tables if the output is not a terminal
_GAP = 2  # blanks between columns

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")


class Styled(NamedTuple):
    """Text in bold or in a colour, if the output is a terminal."""

    text: str
    bold: bool = True
    fg: str | None = None


def echo(*parts: str | Styled, err: bool = False, nl: bool = True) -> None:
    """Print ``parts`` in one line."""
    texts = [
        click.style(printable(part.text), bold=part.bold, fg=part.fg) if isinstance(part, Styled) else printable(part)
        for part in parts
    ]
    click.echo("".join(texts), err=err, nl=nl)


def print_json(value: Any) -> None:
    """Print ``value`` as JSON; infinities and NaN, which JSON lacks, are null."""
    import json

    text = json.dumps(_plain(value), indent=2, ensure_ascii=False, default=str, allow_nan=False)
    click.echo(printable_json(text))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    right: Iterable[str] = (),
    spare: Sequence[str] = (),
) -> None:
    """Print a table; the columns in ``right`` (numbers) are aligned to the right and never folded.

    If the terminal is too narrow, columns of ``spare`` are left out, the first of them first; then the rest is split
    into several tables, each with the first column.
    """
    import sys

    from rich.console import Console

    # rich assumes a width of 80 for output that is not a terminal.
    width = None if sys.stdout.isatty() else _PIPED
    console = Console(file=sys.stdout, width=width, highlight=False, markup=False)
    numbers = {printable(name) for name in right}
    title, columns = printable(title), [printable(name) for name in columns]
    table = list(zip(columns, *([printable(str(cell)) for cell in row] for row in rows), strict=True))
    shown, left_out = _fitting([_Column(name, tuple(cells), name in numbers) for name, *cells in table], spare, console)
    for number, block in enumerate(_blocks(shown, console.width)):
        if number:
            console.print()
        _print_block(console, block, "" if number else title)
    if left_out:
        console.print(f"({', '.join(left_out)}: in a wider terminal, or with --json)")


class _Column(NamedTuple):
    """A column of a table; text is folded between words, numbers are not."""

    name: str
    cells: tuple[str, ...]
    number: bool

    @property
    def natural(self) -> int:
        return max(map(len, (self.name, *self.cells)))

    @property
    def least(self) -> int:
        unbroken = [
            *self.name.split(),
            *(word for cell in self.cells for word in ([cell] if self.number else cell.split())),
        ]
        return max(map(len, unbroken), default=0)


def _least_width(columns: Sequence[_Column]) -> int:
    return sum(column.least for column in columns) + _GAP * (len(columns) - 1)


def _fitting(columns: list[_Column], spare: Sequence[str], console: Console) -> tuple[list[_Column], list[str]]:
    """The columns without those spare ones that do not fit, and the names of the latter."""
    fitting = columns
    for name in spare:
        if _least_width(fitting) <= console.width:
            break
        fitting = [column for column in fitting if column.name != name]
    return fitting, [column.name for column in columns if column not in fitting]


def _blocks(columns: list[_Column], width: int) -> list[list[_Column]]:
    """Groups of columns, each with the first column, as wide as fits."""
    blocks = [columns[:1]]
    for column in columns[1:]:
        if len(blocks[-1]) > 1 and _least_width([*blocks[-1], column]) > width:
            blocks.append(columns[:1])
        blocks[-1].append(column)
    return blocks


def _print_block(console: Console, columns: list[_Column], title: str) -> None:
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column, width in zip(columns, _widths(columns, console.width), strict=True):
        justify: Literal["left", "right"] = "right" if column.number else "left"
        table.add_column(column.name, justify=justify, overflow="fold", width=width)
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*row)
    console.print(table)


def _widths(columns: list[_Column], width: int) -> list[int]:
    """The widths of columns: the widest foldable column shrinks until all fit.

    rich could choose the widths, but its lines exceed the terminal once several columns have their least width.
    """
    widths = [column.natural for column in columns]
    while sum(widths) + _GAP * (len(columns) - 1) > width:
        foldable = [index for index, column in enumerate(columns) if widths[index] > column.least]
        if not foldable:
            break
        widths[max(foldable, key=widths.__getitem__)] -= 1
    return widths


def marked(label: str, findings: Sequence[Summary]) -> str:
    """A label with the numbers of the footnotes about it."""
    return " ".join(
        [label, *(f"[{number}]" for number, finding in enumerate(findings, 1) if label in finding.algorithms)]
    )


def print_footnotes(findings: Sequence[Summary]) -> None:
    """Print a numbered paragraph for each suspicious finding."""
    for number, finding in enumerate(findings, 1):
        echo(f"[{number}] {finding.severity}: {finding.text}")
        for line in finding.lines:
            echo(f"      {line}")


def written_number(value: float, form: str) -> str:
    """A number as text, or a dash if it is not a number."""
    return "-" if value != value else format(value, form)
