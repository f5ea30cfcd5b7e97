"""The averages that are possible at all: hits are whole numbers, so their averages are multiples of a step.

The mean of P@10 over 3 users is a multiple of 1/30, so it is never 0.35. (For means of whole numbers in general: Brown
and Heathers, The GRIM test, Social Psychological and Personality Science 2017.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.evaluation.metrics import Measure
from repro.protocol import Protocol
from repro.replications.claims.printed import Printed, Rounding

# The largest number of averages that are enumerated; beyond it, only their common step is used.
_MAX_AVERAGES = 2**22


@dataclass(frozen=True, eq=False)
class FoldLists:
    """The lists of a fold: their users, the denominators of their hits (0: undefined), their lengths and strata."""

    users: npt.NDArray[np.generic]
    denominators: FloatArray
    lengths: npt.NDArray[np.int64]
    strata: npt.NDArray[np.int32]


@dataclass(frozen=True)
class Steps:
    """The possible averages: ``constant`` plus, for each step, a whole number of hits times the step.

    most   each step with the largest possible number of hits
    users  the number of users over which the average is taken
    """

    most: tuple[tuple[Fraction, int], ...]
    constant: Fraction
    users: int

    @cached_property
    def unit(self) -> Fraction:
        """The largest step of which all averages are multiples."""
        steps = [step for step, _ in self.most]
        bottom = math.lcm(*(step.denominator for step in steps))
        return Fraction(math.gcd(*(int(step * bottom) for step in steps)), bottom)

    @cached_property
    def _last(self) -> int:
        """The largest multiple of the unit: all hits."""
        return int(sum(step * most for step, most in self.most) / self.unit)

    @cached_property
    def _reached(self) -> int | None:
        """A bit for each multiple of the unit that is possible; None if there are too many multiples."""
        if self._last > _MAX_AVERAGES:
            return None
        bits = 1
        for step, most in self.most:
            width = int(step / self.unit)
            while most:
                half = (most + 1) // 2
                bits |= bits << (width * half)
                most -= half
        return bits

    def between(self, low: Fraction, high: Fraction) -> bool:
        """Whether an average between ``low`` and ``high`` is possible."""
        first = max(0, math.ceil((low - self.constant) / self.unit))
        last = min(math.floor((high - self.constant) / self.unit), self._last)
        if first > last:
            return False
        bits = self._reached
        return bits is None or bool((bits >> first) & ((1 << (last - first + 1)) - 1))

    def objection(self, printed: Printed, rounding: Rounding, metric: str) -> str:
        """The reason why the printed number is not a possible average; empty if it may be one."""
        if self.between(*map(Fraction, rounding.interval(printed))):
            return ""
        sentence = f"{metric} over {self.users} user{'' if self.users == 1 else 's'} is a multiple of {self.unit}"
        if len(self.most) > 1:
            sentence += " that a whole number of hits gives"
        near = [printed.shown(float(average), 2) for average in self._nearest(Fraction(printed.value))]
        return f"{sentence}: {' and '.join(near)} {'are' if len(near) > 1 else 'is'} next to {printed.text}"

    def _nearest(self, value: Fraction) -> list[Fraction]:
        """The possible averages next to a value, below and above."""
        position, bits = math.floor((value - self.constant) / self.unit), self._reached
        ranges = range(min(position, self._last), -1, -1), range(max(position + 1, 0), self._last + 1)
        nearest = (next((n for n in numbers if bits is None or bits >> n & 1), None) for numbers in ranges)
        return [self.constant + n * self.unit for n in nearest if n is not None]


def bears_on_steps(decision: str) -> bool:
    """Whether a decision affects the number of lists, users or hits of an average."""
    families = ("data", "split", "relevance", "candidates", "missing", "average", "metric")
    return decision.partition(".")[0] in families


def steps_of(measure: Measure, protocol: Protocol, folds: Sequence[FoldLists]) -> Steps | None:
    """The steps of an average; None if the lists do not determine them."""
    name, k = measure.metric.name, measure.cutoff
    ties = str(protocol["ties.break"])
    counted = name in ("hit", "precision", "recall", "f1") and not measure.parts
    if not counted or ties == "expected" or ties.startswith("shared") or k is None:
        return None
    by_list = "list" in (measure.variants.get("denominator"), measure.variants.get("precision"))
    if by_list or any(fold.strata.any() for fold in folds):
        return None
    joined = [_all_of(folds)] if protocol["average.folds"] == "pooled" else list(folds)
    most: dict[Fraction, int] = {}
    constant, users = Fraction(0), 0
    for fold in joined:
        fold_steps = _fold_steps(measure, protocol, fold)
        if fold_steps is None:
            return None
        for step, hits in fold_steps.most:
            most[step / len(joined)] = most.get(step / len(joined), 0) + hits
        constant += fold_steps.constant / len(joined)
        users += fold_steps.users
    return Steps(tuple(sorted(most.items())), constant, users) if most else None


def _all_of(folds: Sequence[FoldLists]) -> FoldLists:
    return FoldLists(*(np.concatenate([getattr(fold, part.name) for fold in folds]) for part in fields(FoldLists)))


def _fold_steps(measure: Measure, protocol: Protocol, fold: FoldLists) -> Steps | None:
    """The steps of one fold, with the weights of :func:`repro.evaluation.metrics.average`."""
    rule, over = protocol.text("average.no_relevant"), protocol.text("average.over")
    undefined = fold.denominators == 0
    empty = fold.lengths == 0
    if protocol["average.no_list"] != "zero" and empty.any():
        return None  # which users are excluded depends on the lists
    if protocol.get("average.neither", "no-relevant") != "no-relevant" and (empty & undefined).any():
        return None
    if undefined.any() and (rule not in ("skip", "zero", "one") or (over == "pooled" and rule != "skip")):
        return None
    counts = ~undefined if rule == "skip" else np.ones(len(undefined), dtype=np.bool_)
    if not counts.any():
        return None
    users, denominators = fold.users[counts], fold.denominators[counts].tolist()
    _, of_list, lists = np.unique(users, return_inverse=True, return_counts=True)
    weights = [Fraction(1, len(users))] * len(users)
    if over == "users":
        weights = [Fraction(1, len(lists) * count) for count in lists[of_list].tolist()]
    pooled = Fraction(1) / sum(map(Fraction, denominators)) if over == "pooled" else None
    each = 2 if measure.metric.name == "f1" else 1
    most: dict[Fraction, int] = {}
    constant = Fraction(0)
    for weight, denominator in zip(weights, denominators, strict=True):
        if not denominator:
            constant += weight if rule == "one" else 0
            continue
        step = each * (pooled if pooled is not None else weight / Fraction(denominator))
        most[step] = most.get(step, 0) + _most_hits(measure, denominator)
    return Steps(tuple(most.items()), constant, len(lists))


def _most_hits(measure: Measure, denominator: float) -> int:
    """The largest possible number of hits of a list."""
    k = measure.cutoff or 0
    if measure.metric.name == "hit":
        return 1
    return k if measure.metric.name == "f1" else min(k, int(denominator))
