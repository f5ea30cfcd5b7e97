"""Functions of variants and ranges (``Metric.range``) that the declarations of several metrics share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from repro.protocol import Protocol, Value

Variants = Mapping[str, Value]
Range = tuple[float, float]
T = TypeVar("T")

UNIT: Range = (0.0, 1.0)
NOT_NEGATIVE: Range = (0.0, math.inf)
CORRELATION: Range = (-1.0, 1.0)


@dataclass(frozen=True)
class ByVariant(Generic[T]):
    """A function of the variants that depends on one of them: a value for some of its options, and for the others."""

    variant: str
    values: Mapping[str, T]
    otherwise: T

    def __call__(self, variants: Variants) -> T:
        return self.values.get(str(variants[self.variant]), self.otherwise)


@dataclass(frozen=True)
class AtSingleRanks:
    """The range of a metric that counts items at ranks down to k: it holds if every item has a rank of its own.

    If tied items share a rank, any number of them can have a rank of at most k.
    """

    low: float
    high: float

    def __call__(self, k: int | None, variants: Variants, protocol: Protocol) -> Range:
        if not shares_ranks(protocol):
            return self.low, self.high
        return -math.inf if self.low < 0 else self.low, math.inf


UNIT_AT_SINGLE_RANKS = AtSingleRanks(0.0, 1.0)


def shares_ranks(protocol: Protocol) -> bool:
    """Whether several items can have the same rank."""
    return protocol.text("ties.break").startswith("shared-")
