"""Errata that follow from the printed numbers alone: numbers out of range, or in contradiction to each other.

A printed number stands for an interval of values, which depends on whether the table rounds or truncates. It is an
erratum only if no value of the interval is possible.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from repro.protocol import Protocol
from repro.replicate.claims.claim import Cell
from repro.replicate.claims.rounding import Rounding
from repro.replicate.errata.claimed_number import ClaimedNumber, Conflict, numbers_under
from repro.replicate.errata.relations import conflicts_of_system


def out_of_range(claimed: ClaimedNumber) -> str:
    """Why a number is outside the range of its metric; empty if it may be inside."""
    low, high = claimed.measure.range(claimed.protocol)
    within = f"{claimed.name} lies between {low:g} and {high:g}"
    if high == math.inf:
        within = f"{claimed.name} is at least {low:g}"
    if claimed.low > high:
        return f"{within}: {claimed.printed.text} is more"
    return f"{within}: {claimed.printed.text} is less" if claimed.high < low else ""


def bears_on_relations(decision: str, names: Collection[str], shared: bool) -> bool:
    """Whether a decision affects the range of some metrics, or the relations between them.

    Rules for ties do so only if tied items may share a rank (``shared``).
    """
    family, _, name = decision.partition(".")
    if family == "metric":
        return name.partition(".")[0] in names
    return (
        family == "average" or decision in ("predict.average", "candidates.relevant") or (shared and family == "ties")
    )


def certain_range(cell: Cell, protocols: Sequence[Protocol], rounding: Rounding) -> str:
    """Why a number is out of range under every protocol; empty if it is within range under one of them."""
    reasons = [
        out_of_range(number) for protocol in protocols for number in numbers_under([cell], protocol, rounding).values()
    ]
    return reasons[0] if reasons and all(reasons) else ""


def certain_conflicts(
    cells: Sequence[Cell], protocols: Sequence[Protocol], rounding: Rounding, folds: int | None
) -> list[Conflict]:
    """Contradictions that hold under every protocol, with the arithmetic of the first one."""
    certain = conflicts(list(numbers_under(cells, protocols[0], rounding, folds).values()))
    for protocol in protocols[1:]:
        if not certain:
            break
        contradictory = {
            conflict.cells for conflict in conflicts(list(numbers_under(cells, protocol, rounding, folds).values()))
        }
        certain = [conflict for conflict in certain if conflict.cells in contradictory]
    return certain


def conflicts(claimed: Sequence[ClaimedNumber]) -> list[Conflict]:
    """All contradictions among the printed numbers of each system under one protocol."""
    groups: dict[tuple[object, ...], list[ClaimedNumber]] = {}
    for number in claimed:
        key = number.cell.key
        groups.setdefault((key.algorithm, key.under, key.changes, key.user), []).append(number)
    return [conflict for group in groups.values() for conflict in conflicts_of_system(group)]
