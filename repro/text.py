"""Words for what is printed."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 pair, 78 pairs; 1 row of a table, 2 rows of a table."""
    head, of, rest = noun.partition(" of ")
    return f"{count:,} {head}{'' if count == 1 else 's'}{of}{rest}"
