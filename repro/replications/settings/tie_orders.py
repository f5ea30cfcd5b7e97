"""The lowest and the highest number over all orders of tied items."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repro.errors import ReproError
from repro.explanations import ScoredRun
from repro.explanations.design import Design
from repro.explanations.variants import measure_variants
from repro.protocol import DEFAULT, Protocol, registry
from repro.replications.claims.claim import Setting
from repro.replications.claims.printed import Printed, Rounding

BREAK = "ties.break"
EXTREMES = ("worst", "best")
# Options that are not orders of tied items: they average over orders, or tied items share a rank.
_NO_ORDER = ("expected", "shared")


@dataclass(frozen=True)
class TieInterval:
    """The range of a number over orders of tied items.

    orders  the number of orders tried, if the exact ends are unknown; 0 if they are exact
    """

    low: float
    high: float
    orders: int = 0

    def holds(self, printed: Printed, rounding: Rounding) -> bool:
        """Whether the printed number lies in the interval, as far as its digits show."""
        rule = rounding if rounding.rule == "truncated" else Rounding("rounded")
        low, high = rule.interval(printed)
        return low <= self.high and high >= self.low

    def sentence(self, printed: Printed) -> str:
        """The interval in words."""
        low, high = (printed.shown(end, 2) for end in (self.low, self.high))
        if low == high:
            return f"every order of tied items that was tried gives {low}" if self.orders else f"{low} in any order"
        tried = f" ({self.orders} orders were tried)" if self.orders else ""
        return f"the order of tied items moves it from {low} to {high}{tried}"


def ties_are_open(setting: Setting) -> bool:
    """Whether the order of ties is open: the claim lists it, or neither the claim nor its protocol decides it."""
    open_decisions = {decision.partition("=")[0].strip() for decision in setting.open}
    if open_decisions & {BREAK, "ties"}:
        return True
    protocol = setting.protocol
    open_in_protocol = BREAK in protocol.open or "ties" in protocol.open
    return BREAK not in setting.stated and (open_in_protocol or protocol.origins.get(BREAK) == DEFAULT)


def orders_of(protocol: Protocol) -> tuple[list[Protocol], list[Protocol]]:
    """The protocol with the worst and the best order of ties, and with each rule that gives an order."""
    design = Design(protocol, (), 1)
    decision = registry()[BREAK]
    options = [str(value) for value in decision.tried if registry().allows(decision, value, protocol)]
    rules = [option for option in options if option not in EXTREMES and not option.startswith(_NO_ORDER)]
    return [design.protocol({BREAK: end}) for end in EXTREMES], [design.protocol({BREAK: rule}) for rule in rules]


def tie_intervals(run: ScoredRun, protocol: Protocol, names: Sequence[str]) -> dict[tuple[str, str], TieInterval]:
    """The interval of each algorithm and metric, from the kept scores of a run."""
    extremes, rules = orders_of(protocol)
    measured = measure_variants(run, [*extremes, *rules], names)
    intervals = {
        (label, name): interval_of(measured.values[:2, row, column].tolist(), measured.values[2:, row, column].tolist())
        for row, label in enumerate(measured.algorithms)
        for column, name in enumerate(names)
    }
    return {key: interval for key, interval in intervals.items() if interval is not None}


def tie_interval(protocol: Protocol, value: Callable[[Protocol], float]) -> TieInterval | None:
    """The interval of a single number, which ``value`` computes under a protocol."""

    def value_or_nan(variant: Protocol) -> float:
        try:
            return value(variant)
        except ReproError:
            return math.nan

    extremes, rules = ([value_or_nan(variant) for variant in variants] for variants in orders_of(protocol))
    return interval_of(extremes, rules)


def interval_of(extremes: Sequence[float], tried: Sequence[float]) -> TieInterval | None:
    """The interval between the worst and the best order, or between the orders tried if those two are unknown."""
    if all(map(math.isfinite, extremes)):
        return TieInterval(min(extremes), max(extremes))
    finite = list(filter(math.isfinite, tried))
    return TieInterval(min(finite), max(finite), len(finite)) if finite else None
