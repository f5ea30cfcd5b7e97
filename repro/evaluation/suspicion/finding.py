"""One suspicious thing about one algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["warning", "note"]
Figure = int | float | str


@dataclass(frozen=True)
class Finding:
    """One thing that is suspicious about one algorithm.

    metric    the metric that it is about, or an empty text
    figures   the numbers of the sentence, by name, and what else :func:`.summaries` says of it
    others    the other algorithms that it is about
    """

    code: str
    severity: Severity
    algorithm: str
    sentence: str
    metric: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    others: tuple[str, ...] = ()


def number(value: Figure | None) -> str:
    """A figure as it is written."""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def joined(names: Sequence[str], last: str = "and") -> str:
    """Names as a sentence lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def users_of(folds: Figure) -> str:
    """What a number of users counts: a user counts in each fold."""
    return f"users of {folds} folds" if isinstance(folds, int) and folds > 1 else "users"
