"""The ranges that several metrics share; see ``Metric.range``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from repro.evaluation.metrics.metric import Range
from repro.protocol import Protocol, Value

UNIT: Range = (0.0, 1.0)
NOT_NEGATIVE: Range = (0.0, math.inf)
CORRELATION: Range = (-1.0, 1.0)


@dataclass(frozen=True)
class AtSingleRanks:
    """The range of a metric that counts items at ranks down to k: it holds where every item has a rank of its own.

    Where tied items share a rank, more than k of them can have a rank of at most k: nothing bounds their number.
    """

    low: float
    high: float

    def __call__(self, k: int | None, variants: Mapping[str, Value], protocol: Protocol) -> Range:
        if not shares_ranks(protocol):
            return self.low, self.high
        return -math.inf if self.low < 0 else self.low, math.inf


def shares_ranks(protocol: Protocol) -> bool:
    """Whether several items can have one rank."""
    return protocol.text("ties.break").startswith("shared-")


def farthest(variants: Mapping[str, Value]) -> float:
    """The largest distance between two items: features can have negative weights, and then a negative cosine."""
    return 2.0 if variants["distance"] == "cosine" and variants["over"] == "features" else 1.0


def clipped(protocol: Protocol) -> bool:
    """Whether no prediction is further from its rating than the width of the rating scale."""
    return protocol["predict.clip"] == "scale" and protocol["data.scale"] == "observed"
