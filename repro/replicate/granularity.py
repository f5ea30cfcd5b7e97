"""Which averages there can be at all: hits are whole numbers, so that averages of them come in steps.

The mean of P@10 over 3 users is a multiple of 1/30: 0.35 is none. (For means of whole numbers in general: Brown and
Heathers, The GRIM test, Social Psychological and Personality Science 2017.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.evaluation.metrics import Measure
from repro.protocol import Protocol
from repro.replicate.digits import Digits
from repro.replicate.printed import Printed

# Averages that are looked at one by one; beyond so many only their common step counts.
_MOST = 2**22


@dataclass(frozen=True, eq=False)
class FoldLists:
    """The lists of a fold: whose they are, by what hits are divided (0: undefined), lengths and strata."""

    users: npt.NDArray[np.generic]
    denominators: FloatArray
    lengths: npt.NDArray[np.int64]
    strata: npt.NDArray[np.int32]


@dataclass(frozen=True)
class Steps:
    """The averages that whole numbers of hits give: ``constant`` plus hits times a step, for each kind of step.

    most   by step, how many hits there can be
    users  over how many users
    """

    most: tuple[tuple[Fraction, int], ...]
    constant: Fraction
    users: int

    @cached_property
    def unit(self) -> Fraction:
        """The step that all averages are multiples of."""
        steps = [step for step, _ in self.most]
        bottom = math.lcm(*(step.denominator for step in steps))
        return Fraction(math.gcd(*(int(step * bottom) for step in steps)), bottom)

    @cached_property
    def _reached(self) -> int | None:
        """A bit for each multiple of the unit that is reached; None where there are too many."""
        if sum(step * most for step, most in self.most) / self.unit > _MOST:
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
        """Whether there is an average from ``low`` to ``high``."""
        top = sum(step * most for step, most in self.most)
        first = max(0, math.ceil((low - self.constant) / self.unit))
        last = min(math.floor((high - self.constant) / self.unit), int(top / self.unit))
        if first > last:
            return False
        bits = self._reached
        return bits is None or bool((bits >> first) & ((1 << (last - first + 1)) - 1))

    def objection(self, printed: Printed, digits: Digits, metric: str) -> str:
        """Why the printed number is no average, in words; empty where it may be one."""
        if self.between(Fraction(digits.low(printed)), Fraction(digits.high(printed))):
            return ""
        told = f"{metric} over {self.users} user{'' if self.users == 1 else 's'} is a multiple of {self.unit}"
        if len(self.most) > 1:
            told += " that whole numbers of hits give"
        near = [printed.shown(float(one), 2) for one in self._nearest(Fraction(printed.value))]
        return f"{told}: {' and '.join(near)} {'are' if len(near) > 1 else 'is'} next to {printed.text}"

    def _nearest(self, value: Fraction) -> list[Fraction]:
        """The averages right below and above a value."""
        at, bits = math.floor((value - self.constant) / self.unit), self._reached
        top = int(sum(step * most for step, most in self.most) / self.unit)
        below = next((n for n in range(min(at, top), -1, -1) if bits is None or bits >> n & 1), None)
        above = next((n for n in range(max(at + 1, 0), top + 1) if bits is None or bits >> n & 1), None)
        return [self.constant + n * self.unit for n in (below, above) if n is not None]


def bears_on_steps(decision: str) -> bool:
    """Whether a decision says over how many lists, users and hits an average is taken."""
    families = ("data", "split", "relevance", "candidates", "missing", "average", "metric")
    return decision.partition(".")[0] in families


def steps_of(measure: Measure, protocol: Protocol, folds: Sequence[FoldLists]) -> Steps | None:
    """The steps of an average; None where it does not come in steps that the lists tell."""
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
        found = _fold_steps(measure, protocol, fold)
        if found is None:
            return None
        for step, hits in found.most:
            most[step / len(joined)] = most.get(step / len(joined), 0) + hits
        constant += found.constant / len(joined)
        users += found.users
    return Steps(tuple(sorted(most.items())), constant, users) if most else None


def _all_of(folds: Sequence[FoldLists]) -> FoldLists:
    def every(name: str) -> npt.NDArray[np.generic]:
        return np.concatenate([getattr(fold, name) for fold in folds])

    return FoldLists(*(every(name) for name in ("users", "denominators", "lengths", "strata")))  # type: ignore[arg-type]


def _fold_steps(measure: Measure, protocol: Protocol, fold: FoldLists) -> Steps | None:
    """The steps of one fold, as :func:`repro.evaluation.metrics.average` weighs its lists."""
    rule, over = protocol.text("average.no_relevant"), protocol.text("average.over")
    undefined = fold.denominators == 0
    empty = fold.lengths == 0
    if protocol["average.no_list"] != "zero" and empty.any():
        return None  # who is left out depends on the lists
    if protocol.get("average.neither", "no-relevant") != "no-relevant" and (empty & undefined).any():
        return None
    if undefined.any() and (rule not in ("skip", "zero", "one") or (over == "pooled" and rule != "skip")):
        return None
    counts = ~undefined if rule == "skip" else np.ones(len(undefined), dtype=np.bool_)
    if not counts.any():
        return None
    users, denominators = fold.users[counts], fold.denominators[counts].tolist()
    lists, of_list, number = _lists_of_users(users)
    weights = [Fraction(1, number * lists[user]) if over == "users" else Fraction(1, len(users)) for user in of_list]
    whole = Fraction(1) / sum(map(Fraction, denominators)) if over == "pooled" else None
    each = 2 if measure.metric.name == "f1" else 1
    most: dict[Fraction, int] = {}
    constant = Fraction(0)
    for weight, denominator in zip(weights, denominators, strict=True):
        if not denominator:
            constant += weight if rule == "one" else 0
            continue
        step = each * (whole if whole is not None else weight / Fraction(denominator))
        most[step] = most.get(step, 0) + _most_hits(measure, denominator)
    return Steps(tuple(most.items()), constant, number)


def _lists_of_users(users: npt.NDArray[np.generic]) -> tuple[list[int], list[int], int]:
    """How many lists each user has, whose each list is, and how many users there are."""
    _, of_list, lists = np.unique(users, return_inverse=True, return_counts=True)
    return lists.tolist(), of_list.tolist(), len(lists)


def _most_hits(measure: Measure, denominator: float) -> int:
    """How many hits a list can have."""
    k = measure.cutoff or 0
    if measure.metric.name == "hit":
        return 1
    return k if measure.metric.name == "f1" else min(k, int(denominator))
