"""The result of an evaluation: numbers, what the decisions touched, and what to store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from repro.data import Impact
from repro.evaluation.metrics import Measure, simple_measures
from repro.evaluation.stages import Interval
from repro.evaluation.suspicion import Facts

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Measured:
    """The results of an algorithm on a fold.

    values     by the full name of each measure that is computed by itself: the value, and the number of users behind it
    impacts    what each decision touched
    tables     what a run stores
    seconds    how long each step took
    digests    identify what is not stored: the candidates of the lists
    intervals  the lowest and the highest value over all orders of tied items, of the measures for which they are known
    facts      counts from which :mod:`repro.evaluation.suspicion` finds what is suspicious
    """

    values: dict[str, tuple[float, int]]
    impacts: list[Impact] = field(default_factory=list)
    tables: dict[str, pa.Table] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)

    @classmethod
    def joined(cls, parts: Sequence[Measured]) -> Measured:
        """The results of lists and those of predictions together."""
        impacts = [impact for part in parts for impact in part.impacts]
        mappings: dict[str, dict[str, Any]] = {
            name: {key: value for part in parts for key, value in getattr(part, name).items()}
            for name in ("values", "tables", "seconds", "digests", "intervals")
        }
        return cls(impacts=impacts, facts=sum((part.facts for part in parts), Facts()), **mappings)

    def value(self, measure: Measure) -> tuple[float, int]:
        """The value of a measure, also of one that is made of others, and the number of users behind it."""
        return measure.joined(self.values)

    def interval(self, measure: Measure) -> Interval | None:
        """The interval of a measure over all orders of tied items; None where it is not known."""
        return joined_interval(measure, self.intervals)


def joined_interval(measure: Measure, intervals: Mapping[str, Interval]) -> Interval | None:
    """The interval of a measure, from those of the measures that it is made of; None where one of them has none."""
    if not all(part.full_name in intervals for part in simple_measures([measure])):
        return None
    low, high = (measure.joined({name: (ends[side], 0) for name, ends in intervals.items()})[0] for side in (0, 1))
    return low, high
