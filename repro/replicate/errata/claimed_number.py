"""Printed numbers with the measure and the protocol that they are claimed for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repro.errors import ReproError
from repro.evaluation.metrics import Measure, metrics, parse_measure
from repro.protocol import Protocol
from repro.replicate.claims.claim import Cell
from repro.replicate.claims.printed import Printed
from repro.replicate.claims.rounding import Rounding


@dataclass(frozen=True, eq=False)
class ClaimedNumber:
    """A printed number with its measure, its protocol, and the rounding rule of its table.

    folds  the number of folds over which the source averages; None if it is unknown
    """

    cell: Cell
    measure: Measure
    protocol: Protocol
    rounding: Rounding
    folds: int | None = None

    @property
    def name(self) -> str:
        return self.measure.metric.name

    @property
    def k(self) -> int | None:
        return self.measure.cutoff

    @property
    def printed(self) -> Printed:
        return self.cell.printed

    @property
    def shown(self) -> str:
        """The metric and the printed number."""
        return f"{self.cell.key.metric} ({self.printed.text})"

    @property
    def low(self) -> float:
        """The lowest value that the printed number can stand for."""
        return self.rounding.low(self.printed)

    @property
    def high(self) -> float:
        """The highest value that the printed number can stand for."""
        return self.rounding.high(self.printed)

    @property
    def shares_ranks(self) -> bool:
        """Whether items can share a rank, so that more than k of them are among the first k."""
        return str(self.protocol.get("ties.break")).startswith("shared")

    @property
    def averaged_once(self) -> bool:
        """Whether the average is taken over all lists (or pairs) together, and not first within folds."""
        return self.folds == 1 or self.protocol.get("average.folds") == "pooled"

    def is_a(self, name: str, **variants: str) -> bool:
        """Whether the number is of this metric, with these variants."""
        stated = self.measure.variants
        return self.name == name and all(stated.get(key) == value for key, value in variants.items())


@dataclass(frozen=True)
class Conflict:
    """Printed numbers that contradict each other, with the arithmetic."""

    cells: tuple[Cell, ...]
    why: str


def numbers_under(
    cells: Iterable[Cell], protocol: Protocol, rounding: Rounding, folds: int | None = None
) -> dict[Cell, ClaimedNumber]:
    """The printed numbers under a protocol, without those whose metric it does not define."""
    numbers = {}
    for cell in cells:
        try:
            measure = parse_measure(cell.key.metric, protocol, metrics())
        except ReproError:
            continue
        numbers[cell] = ClaimedNumber(cell, measure, protocol, rounding, folds)
    return numbers
