"""Whether a table rounds its numbers or cuts digits off: one answer for the whole table, from all of its cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from repro.replicate.printed import Printed

# How probable it may be that a table which rounds looks as if it cut digits off.
LEVEL = 0.01
# So many numbers at least must be ones that rounding cannot give: a single one may be an error.
FEWEST = 2


@dataclass(frozen=True)
class Digits:
    """How a table prints numbers, and how many of them show it.

    habit    "rounded": some number can only come from rounding; "cut": all numbers agree with digits that are cut off,
             and chance does not explain that; "unknown": neither is shown
    rounded  numbers that rounding gives and cutting digits off does not
    cut      numbers that cutting digits off gives and rounding does not
    near     numbers that lie within one unit of the last digit, but not exactly on it: those that tell anything
    """

    habit: Literal["rounded", "cut", "unknown"] = "unknown"
    rounded: int = 0
    cut: int = 0
    near: int = 0

    def low(self, printed: Printed) -> float:
        """The least value that the printed number can stand for."""
        return self._ends(printed)[0]

    def high(self, printed: Printed) -> float:
        """The greatest value that it can stand for."""
        return self._ends(printed)[1]

    def _ends(self, printed: Printed) -> tuple[float, float]:
        value, slack = printed.value, printed.slack
        below = 0.0 if self.habit == "cut" else slack
        beyond = slack if self.habit == "rounded" else 2.0 * slack
        if value == 0.0:
            below = beyond  # cut off from either side
        noise = printed.noise(value)
        down, up = (beyond, below) if value < 0 else (below, beyond)
        return value - down - noise, value + up + noise

    def gives(self, printed: Printed, value: float) -> bool:
        """Whether the value is printed so in this table."""
        return printed.rounds_from(value) or (self.habit == "cut" and printed.cut_from(value))

    @property
    def sentence(self) -> str:
        """What shows that the table cuts digits off."""
        return (
            f"the table cuts digits off: all {self.near} numbers that can show it lie beyond what is printed, and "
            f"{self.cut} of them would be rounded up (in a table that rounds, chance gives this once in "
            f"{2**self.near:,})"
        )

    def doubt(self, printed: Printed, value: float) -> str:
        """Of a number that only cutting digits off explains: why that is no explanation in this table."""
        if self.habit == "cut" or printed.rounds_from(value) or not printed.cut_from(value):
            return ""
        told = f"{printed.shown(value, 2)} with its digits cut off would be {printed.text}, but "
        if self.habit == "rounded":
            return told + f"the table rounds ({_numbers(self.rounded)} can only be rounded)"
        return told + f"{_numbers(self.near)} of the table cannot show that it cuts digits off"


def _numbers(count: int) -> str:
    return "1 number" if count == 1 else f"{count} numbers"


def digits_of(pairs: Sequence[tuple[Printed, float]]) -> Digits:
    """How a table prints numbers, from each printed number and the value that was measured for it.

    Offsets (see ``Printed.offset``) of numbers that were rounded, or that are off a little for another reason, are as
    often below zero as above it. So m offsets that are all above zero have the probability 2^-m in a table that rounds,
    and this must be at most ``LEVEL``. In a table that cuts digits off about half of them are above 0.5; a share with a
    tail of less than ``LEVEL`` / 2 in the binomial distribution is no such table.
    """
    offsets = [printed.offset(value) for printed, value in pairs if math.isfinite(value)]
    near = [one for one in offsets if one and abs(one) < 1.0]
    known = [(printed, value) for printed, value in pairs if math.isfinite(value)]
    cut = sum(printed.cut_from(value) and not printed.rounds_from(value) for printed, value in known)
    rounded = sum(printed.rounds_from(value) and not printed.cut_from(value) for printed, value in known)
    habit: Literal["rounded", "cut", "unknown"] = "unknown"
    if rounded:
        habit = "rounded"
    elif min(near, default=-1.0) > 0 and cut >= FEWEST and 0.5 ** len(near) <= LEVEL and _usual(cut, len(near)):
        habit = "cut"
    return Digits(habit, rounded, cut, len(near))


def _usual(cut: int, near: int) -> bool:
    """Whether so many of the offsets are above 0.5 as one half of them usually is."""
    below = sum(math.comb(near, count) for count in range(cut + 1)) / 2**near
    above = sum(math.comb(near, count) for count in range(cut, near + 1)) / 2**near
    return min(below, above) >= LEVEL / 2
