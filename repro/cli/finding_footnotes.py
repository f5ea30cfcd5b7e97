"""How commands say what is suspicious: numbers beside the names in a table, and below it a footnote for each number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from repro.cli.output import echo

if TYPE_CHECKING:
    from repro.evaluation.suspicion import Summary


def marked(label: str, told: Sequence[Summary]) -> str:
    """A label with the numbers of the footnotes that are about it."""
    return " ".join([label, *(f"[{number}]" for number, one in enumerate(told, 1) if label in one.algorithms)])


def print_footnotes(told: Sequence[Summary]) -> None:
    """A paragraph for each number."""
    for number, one in enumerate(told, 1):
        echo(f"[{number}] {one.severity}: {one.text}")
        for line in one.lines:
            echo(f"      {line}")
