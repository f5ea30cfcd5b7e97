"""What measuring gives: numbers, what the decisions touched, and what to store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from repro.data import Impact
from repro.evaluation.suspicion import Facts

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Measured:
    """A value and the number of users behind it for each measure (by full name), impacts, tables, seconds.

    ``intervals`` are the lowest and highest value that any order of tied items gives, of the measures for which they
    are known; ``facts`` are what was counted to find out what is suspicious; ``digests`` identify what is not stored:
    the candidates of the lists.
    """

    values: dict[str, tuple[float, int]]
    impacts: list[Impact] = field(default_factory=list)
    tables: dict[str, pa.Table] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
