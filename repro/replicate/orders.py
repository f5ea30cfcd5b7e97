"""What the order of tied items leaves open: the lowest and the highest number that an order of them gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from repro.errors import ReproError
from repro.explain import ScoredRun
from repro.explain.design import Design
from repro.explain.variants import measure_variants
from repro.protocol import DEFAULT, Protocol, registry
from repro.replicate.claim import Setting
from repro.replicate.digits import Digits
from repro.replicate.printed import Printed

BREAK = "ties.break"
ENDS = ("worst", "best")
# Not an order of the tied items: their numbers are averaged over orders, or they share a rank.
_NO_ORDER = ("expected", "shared")

Numbers = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Interval:
    """The numbers between which the order of tied items decides.

    orders  how many orders were tried, where the exact ends are not known; 0 where they are
    """

    low: float
    high: float
    orders: int = 0

    def holds(self, printed: Printed, digits: Digits) -> bool:
        """Whether a printed number is that of an order in between, as far as its digits say."""
        printing = digits if digits.habit == "cut" else Digits("rounded")
        return printing.low(printed) <= self.high and printing.high(printed) >= self.low

    def sentence(self, printed: Printed) -> str:
        """The interval in words."""
        low, high = (printed.shown(end, 2) for end in (self.low, self.high))
        if low == high:
            return f"every order of tied items that was tried gives {low}" if self.orders else f"{low} in any order"
        tried = f" ({self.orders} orders were tried)" if self.orders else ""
        return f"the order of tied items moves it from {low} to {high}{tried}"


def ties_are_open(setting: Setting) -> bool:
    """Whether the source leaves the order of ties open: the claim says so, or neither it nor a protocol decides it."""
    asked = {one.partition("=")[0].strip() for one in setting.open}
    if asked & {BREAK, "ties"}:
        return True
    protocol = setting.protocol
    left = BREAK in protocol.open or "ties" in protocol.open
    return BREAK not in setting.stated and (left or protocol.origins.get(BREAK) == DEFAULT)


def orders_of(protocol: Protocol) -> tuple[list[Protocol], list[Protocol]]:
    """The protocol with the worst and the best order of ties, and with each rule that is an order."""
    design = Design(protocol, (), 1)
    options = [str(value) for value in registry()[BREAK].tried]
    rules = [one for one in options if one not in ENDS and not one.startswith(_NO_ORDER)]
    return [design.protocol({BREAK: end}) for end in ENDS], [design.protocol({BREAK: rule}) for rule in rules]


def tie_intervals(kept: ScoredRun, protocol: Protocol, names: Sequence[str]) -> dict[tuple[str, str], Interval]:
    """The interval of each algorithm and metric, from the kept scores of a run."""
    ends, rules = orders_of(protocol)
    found = measure_variants(kept, [*ends, *rules], names)
    return {
        (label, name): interval
        for row, label in enumerate(found.algorithms)
        for column, name in enumerate(names)
        if (interval := interval_of(found.values[:2, row, column].tolist(), found.values[2:, row, column].tolist()))
    }


def tie_interval(protocol: Protocol, value: Callable[[Protocol], float]) -> Interval | None:
    """The interval of one number, which ``value`` computes under a protocol."""

    def tried(one: Protocol) -> float:
        try:
            return value(one)
        except ReproError:
            return float("nan")

    ends, rules = orders_of(protocol)
    return interval_of([tried(one) for one in ends], [tried(one) for one in rules])


def interval_of(ends: Sequence[float], tried: Sequence[float]) -> Interval | None:
    """The interval between the worst and the best order, or, where these are not exact, between those tried."""
    if np.isfinite(ends).all():
        return Interval(min(ends), max(ends))
    known = [one for one in tried if np.isfinite(one)]
    return Interval(min(known), max(known), len(known)) if known else None
