"""Findings: a suspicious property of an algorithm's numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["warning", "note"]
Figure = int | float | str


@dataclass(frozen=True)
class Finding:
    """A suspicious property of the numbers of an algorithm.

    metric    the metric concerned, or an empty text
    figures   the numbers of the sentence, by name, and further ones for :func:`.summaries`
    others    the other algorithms concerned
    """

    code: str
    severity: Severity
    algorithm: str
    sentence: str
    metric: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    others: tuple[str, ...] = ()


def number(value: Figure | None) -> str:
    """A figure as text."""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def joined(names: Sequence[str], last: str = "and") -> str:
    """Names as an enumeration in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def users_of(folds: Figure) -> str:
    """The unit of a number of users, who count in each fold."""
    return f"users of {folds} folds" if isinstance(folds, int) and folds > 1 else "users"
