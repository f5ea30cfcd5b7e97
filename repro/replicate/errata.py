"""Numbers that no computation can give, told from the printed ones alone: out of range, or at odds with each other.

Between two numbers of the same system on the same lists only such inequalities are used that hold for every user: they
hold for means over users, lists or folds too, as long as both are averaged alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repro.errors import ReproError
from repro.metrics import Measure, metrics, parse_measure
from repro.protocol import Protocol
from repro.replicate.claim import Cell, Claim
from repro.replicate.printed import Printed

# Of these a list without a hit down to k counts 0, and no list more than 1.
_BELOW_HIT = ("precision", "recall", "f1", "ap", "rr", "ndcg")
# These can only grow with k.
_GROWING = ("hit", "recall", "rr", "arhr")


@dataclass(frozen=True, eq=False)
class Claimed:
    """A printed number with the measure that it is one of, and the protocol."""

    cell: Cell
    measure: Measure
    protocol: Protocol

    @classmethod
    def of(cls, claim: Claim, cell: Cell) -> Claimed:
        protocol = claim.setting(cell.place.under, cell.place.changes).protocol
        return cls(cell, parse_measure(cell.place.metric, protocol, metrics()), protocol)

    @property
    def name(self) -> str:
        return self.measure.metric.name

    @property
    def printed(self) -> Printed:
        return self.cell.printed

    @property
    def shown(self) -> str:
        """The metric, and what is printed."""
        return f"{self.cell.place.metric} ({self.printed.text})"

    @property
    def low(self) -> float:
        """The least that it can have been before it was rounded (or digits cut off)."""
        return self.printed.value - self.printed.slack * (2 if self.printed.value < 0 else 1)

    @property
    def high(self) -> float:
        """The most."""
        return self.printed.value + self.printed.slack * (1 if self.printed.value < 0 else 2)

    @property
    def shares_ranks(self) -> bool:
        """Whether several items can have one rank, so that more than k of them are among the first k."""
        return str(self.protocol.get("ties.break")).startswith("shared")


def out_of_range(claim: Claim, cell: Cell) -> str:
    """Why a number is no value of its metric, in words; empty where it may be one."""
    claimed = Claimed.of(claim, cell)
    low, high = claimed.measure.range(claimed.protocol)
    within = f"{claimed.name} lies between {low:g} and {high:g}"
    if high == math.inf:
        within = f"{claimed.name} is at least {low:g}"
    if claimed.low > high:
        return f"{within}: {claimed.printed.text} is more"
    return f"{within}: {claimed.printed.text} is less" if claimed.high < low else ""


@dataclass(frozen=True)
class Conflict:
    """Printed numbers that cannot all be right, with the arithmetic."""

    cells: tuple[Cell, ...]
    why: str


def conflicts(claim: Claim, cells: Sequence[Cell]) -> list[Conflict]:
    """All that is at odds among the printed numbers of one system under one protocol."""
    groups: dict[tuple[object, ...], list[Claimed]] = {}
    for cell in cells:
        place = cell.place
        key = (place.algorithm, place.under, place.changes, place.user)
        try:
            groups.setdefault(key, []).append(Claimed.of(claim, cell))
        except ReproError:
            continue
    return [found for group in groups.values() for found in _of_system(group)]


def _of_system(group: Sequence[Claimed]) -> Iterator[Conflict]:
    named = {(one.name, one.measure.cutoff): one for one in group}
    yield from _of_errors(group)
    lists = [one for one in group if one.measure.metric.kind == "ranking" and not one.shares_ranks]
    if not lists or lists[0].protocol["average.over"] == "pooled":
        return
    for one in lists:
        k = one.measure.cutoff
        hit = named.get(("hit", k))
        binary = one.measure.variants.get("gain", "binary") == "binary"
        if hit is not None and one.name in _BELOW_HIT and binary and hit.high < one.low:
            yield Conflict(
                (hit.cell, one.cell),
                f"{hit.shown} is below {one.shown}: a list with a hit among its first {k} counts 1 for the one and at "
                "most 1 for the other, and a list without counts 0 for both",
            )
        if one.name == "f1":
            yield from _of_f1(one, named.get(("precision", k)), named.get(("recall", k)))
    yield from _of_cutoffs(lists)


def _of_errors(group: Sequence[Claimed]) -> Iterator[Conflict]:
    """RMSE >= MAE, and MSE >= RMSE^2 (equal where nothing is averaged in between)."""
    for average in {str(one.measure.variants.get("average")) for one in group}:
        of = {one.name: one for one in group if str(one.measure.variants.get("average")) == average}
        if "rmse" in of and "mae" in of and of["rmse"].high < of["mae"].low:
            yield Conflict(
                (of["rmse"].cell, of["mae"].cell),
                f"{of['rmse'].shown} is below {of['mae'].shown}: the root of the mean of squares is never below the "
                "mean of the same absolute errors",
            )
        if "mse" in of and "rmse" in of and of["mse"].high < max(0.0, of["rmse"].low) ** 2:
            yield Conflict(
                (of["mse"].cell, of["rmse"].cell),
                f"{of['mse'].shown} is below the square of {of['rmse'].shown}, {of['rmse'].printed.value ** 2:.4g}: a "
                "mean of squares is never below the square of the mean",
            )


def _of_f1(f1: Claimed, precision: Claimed | None, recall: Claimed | None) -> Iterator[Conflict]:
    """F1 <= (P + R) / 2: the harmonic mean of two numbers is never above their arithmetic mean."""
    if precision is None or recall is None:
        return
    same = {"precision": precision, "recall": recall}
    if any(f1.measure.variants[name] != one.measure.variants["denominator"] for name, one in same.items()):
        return
    most = (precision.high + recall.high) / 2
    if f1.low > most:
        yield Conflict(
            (f1.cell, precision.cell, recall.cell),
            f"{f1.shown} is above the mean of {precision.shown} and {recall.shown}, "
            f"{(precision.printed.value + recall.printed.value) / 2:.4g}: the harmonic mean of two numbers is never "
            "above their arithmetic mean, for no user and so not on average",
        )


def _of_cutoffs(lists: Sequence[Claimed]) -> Iterator[Conflict]:
    for shorter in lists:
        for longer in lists:
            cuts = shorter.measure.cutoff, longer.measure.cutoff
            if shorter.name != longer.name or shorter.name not in _GROWING or None in cuts:
                continue
            if shorter.measure.variants != longer.measure.variants or cuts[0] >= cuts[1]:  # type: ignore[operator]
                continue
            if shorter.measure.variants.get("denominator", "relevant") == "relevant" and shorter.low > longer.high:
                yield Conflict(
                    (shorter.cell, longer.cell),
                    f"{shorter.shown} is above {longer.shown}: what is among the first {cuts[0]} is among the first "
                    f"{cuts[1]} too",
                )
