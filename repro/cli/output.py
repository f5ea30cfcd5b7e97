"""How commands print: tables for people, JSON for scripts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")


def print_json(value: Any) -> None:
    """``value`` as JSON; what is not a finite number is null, as JSON has no word for it."""
    click.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False, default=str, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "", right: Iterable[str] = ()
) -> None:
    """A table on standard output; the columns in ``right`` are aligned to the right."""
    import sys

    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in set(right) else "left", overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    # Piped into a file, a table must not be folded to an assumed width of 80.
    Console(file=sys.stdout, width=None if sys.stdout.isatty() else 160, highlight=False, markup=False).print(table)
