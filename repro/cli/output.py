"""How commands print: sentences and tables for people, JSON for scripts.

Whatever commands print passes here, so that text from files (ids, labels, questions, names, error messages) is shown,
and never commands the terminal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from repro.terminal import printable, printable_json

if TYPE_CHECKING:
    from rich.console import Console

_PIPED = 160
_GAP = 2  # blanks between columns

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")


class Styled(NamedTuple):
    """Text in bold or in a colour, where the output is a terminal."""

    text: str
    bold: bool = True
    fg: str | None = None


def echo(*parts: str | Styled, err: bool = False, nl: bool = True) -> None:
    """Print ``parts``, one after the other."""
    shown = [
        click.style(printable(part.text), bold=part.bold, fg=part.fg) if isinstance(part, Styled) else printable(part)
        for part in parts
    ]
    click.echo("".join(shown), err=err, nl=nl)


def print_json(value: Any) -> None:
    """``value`` as JSON; what is not a finite number is null, as JSON has no word for it."""
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
    """A table on standard output; the columns in ``right``, of numbers, are aligned to the right and never folded.

    Where a terminal is too narrow, columns of ``spare`` are left out, the first of them first, then the others are
    printed in several tables, each with the first column.
    """
    import sys

    from rich.console import Console

    # Piped into a file, a table must not be folded to an assumed width of 80.
    width = None if sys.stdout.isatty() else _PIPED
    console = Console(file=sys.stdout, width=width, highlight=False, markup=False)
    numbers = {printable(name) for name in right}
    title, columns = printable(title), [printable(name) for name in columns]
    table = list(zip(columns, *([printable(str(cell)) for cell in row] for row in rows), strict=True))
    made = [_Column(name, tuple(cells), name in numbers) for name, *cells in table]
    kept, left_out = _fitting(made, spare, console.width)
    for number, block in enumerate(_blocks(kept, console.width)):
        if number:
            console.print()
        _print_block(console, block, "" if number else title)
    if left_out:
        console.print(f"({', '.join(left_out)}: in a wider terminal, or with --json)")


class _Column(NamedTuple):
    """A column of a table, and how narrow it may become: numbers stay whole, text is folded between words."""

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


def _fitting(columns: list[_Column], spare: Sequence[str], width: int) -> tuple[list[_Column], list[str]]:
    """The columns without as many of the spare ones as are too many, and the names of these."""
    kept = columns
    for name in spare:
        if _least_width(kept) <= width:
            break
        kept = [column for column in kept if column.name != name]
    return kept, [column.name for column in columns if column not in kept]


def _blocks(columns: list[_Column], width: int) -> list[list[_Column]]:
    """Columns that fit beside the first one, together as many as do."""
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
    """As wide as they are; where that is too much, the widest that may be folded gives way first.

    rich can choose widths too, but where several columns have reached their least width its lines become wider than
    the terminal.
    """
    widths = [column.natural for column in columns]
    while sum(widths) + _GAP * (len(columns) - 1) > width:
        foldable = [place for place, column in enumerate(columns) if widths[place] > column.least]
        if not foldable:
            break
        widths[max(foldable, key=lambda place: widths[place])] -= 1
    return widths
