"""Words for what is printed."""

from __future__ import annotations

import math
from html import escape


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 pair, 78 pairs; 1 row of a table, 2 rows of a table."""
    head, of, rest = noun.partition(" of ")
    return f"{count:,} {head}{'' if count == 1 else 's'}{of}{rest}"


def finite(value: float) -> float | None:
    """A number for JSON: None where it is infinite or NaN."""
    return value if math.isfinite(value) else None


def as_page(text: str) -> str:
    """Text as HTML, for notebooks."""
    return f"<pre>{escape(text)}</pre>"
