"""Numbers that no computation can give, told from the printed ones alone: out of range, or at odds with each other.

What is printed stands for an interval of values, as the table rounds, cuts digits off, or may do either; a number is an
erratum only if no value of the interval will do.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from repro.errors import ReproError
from repro.evaluation.metrics import Measure, metrics, parse_measure
from repro.protocol import Protocol
from repro.replicate.claim import Cell
from repro.replicate.digits import Digits
from repro.replicate.printed import Printed


@dataclass(frozen=True, eq=False)
class Claimed:
    """A printed number with the measure and the protocol that it is claimed for, and how its table prints digits.

    folds  over how many folds the source averages; None where that is not known
    """

    cell: Cell
    measure: Measure
    protocol: Protocol
    digits: Digits
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
        """The metric, and what is printed."""
        return f"{self.cell.place.metric} ({self.printed.text})"

    @property
    def low(self) -> float:
        """The least that it can have been before it was printed."""
        return self.digits.low(self.printed)

    @property
    def high(self) -> float:
        """The most that it can have been."""
        return self.digits.high(self.printed)

    @property
    def shares_ranks(self) -> bool:
        """Whether several items can have one rank, so that more than k of them are among the first k."""
        return str(self.protocol.get("ties.break")).startswith("shared")

    @property
    def single(self) -> bool:
        """Whether all lists (or pairs) are averaged at once, and not fold by fold."""
        return self.folds == 1 or self.protocol.get("average.folds") == "pooled"

    def is_a(self, name: str, **variants: str) -> bool:
        """Whether it is a number of this metric in these variants."""
        own = self.measure.variants
        return self.name == name and all(own.get(key) == value for key, value in variants.items())


@dataclass(frozen=True)
class Conflict:
    """Printed numbers that cannot all be right, with the arithmetic."""

    cells: tuple[Cell, ...]
    why: str


def out_of_range(claimed: Claimed) -> str:
    """Why a number is no value of its metric, in words; empty where it may be one."""
    low, high = claimed.measure.range(claimed.protocol)
    within = f"{claimed.name} lies between {low:g} and {high:g}"
    if high == math.inf:
        within = f"{claimed.name} is at least {low:g}"
    if claimed.low > high:
        return f"{within}: {claimed.printed.text} is more"
    return f"{within}: {claimed.printed.text} is less" if claimed.high < low else ""


def bears_on_relations(decision: str, names: Collection[str], shared: bool) -> bool:
    """Whether a decision says which range the numbers of some metrics have, or which relations hold between them.

    Of rules for ties that is only so where tied items may be ``shared``: at one rank.
    """
    family, _, rest = decision.partition(".")
    if family == "metric":
        return rest.partition(".")[0] in names
    return (
        family == "average" or decision in ("predict.average", "candidates.relevant") or (shared and family == "ties")
    )


def claimed_under(
    cells: Iterable[Cell], protocol: Protocol, digits: Digits, folds: int | None = None
) -> dict[Cell, Claimed]:
    """The printed numbers as numbers of a protocol; those that it does not have are left out."""
    found = {}
    for cell in cells:
        try:
            measure = parse_measure(cell.place.metric, protocol, metrics())
        except ReproError:
            continue
        found[cell] = Claimed(cell, measure, protocol, digits, folds)
    return found


def certain_range(cell: Cell, protocols: Sequence[Protocol], digits: Digits) -> str:
    """Why a number is out of its range under each of the protocols; empty where it is in it under one."""
    told = [out_of_range(one) for protocol in protocols for one in claimed_under([cell], protocol, digits).values()]
    return told[0] if told and all(told) else ""


def certain_conflicts(
    cells: Sequence[Cell], protocols: Sequence[Protocol], digits: Digits, folds: int | None
) -> list[Conflict]:
    """Numbers that are at odds under each of the protocols, with the arithmetic of the first."""
    found = conflicts(list(claimed_under(cells, protocols[0], digits, folds).values()))
    for protocol in protocols[1:]:
        if not found:
            break
        there = {one.cells for one in conflicts(list(claimed_under(cells, protocol, digits, folds).values()))}
        found = [one for one in found if one.cells in there]
    return found


def conflicts(claimed: Sequence[Claimed]) -> list[Conflict]:
    """All that is at odds among the printed numbers of one system under one protocol."""
    from repro.replicate.relations import of_system

    groups: dict[tuple[object, ...], list[Claimed]] = {}
    for one in claimed:
        place = one.cell.place
        groups.setdefault((place.algorithm, place.under, place.changes, place.user), []).append(one)
    return [found for group in groups.values() for found in of_system(group)]
