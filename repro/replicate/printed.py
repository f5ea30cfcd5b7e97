"""A number as it was printed: its digits, what rounds to them, and what gives them when digits are cut off."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal

from repro.errors import StudyError

# 6,040 and 1,000,209.5, with commas between thousands; 0,934 is none of them.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# What doubles lose: a number this near to the end of an interval is taken to be in it.
_EQUAL = 1e-9


@dataclass(frozen=True)
class Printed:
    """A printed number: its text, its value, and to how many decimals it is known.

    A percentage is a share: "4.468%" is 0.04468, known to five decimals.
    """

    text: str
    value: float
    decimals: int

    @property
    def slack(self) -> float:
        """How far off a number may be that rounds to these digits."""
        return 0.5 * 10.0**-self.decimals

    def rounds_from(self, value: float) -> bool:
        """Whether the value, rounded to as many decimals, is what is printed; halves may have gone either way."""
        return abs(value - self.value) <= self.slack * (1.0 + _EQUAL)

    def cut_from(self, value: float) -> bool:
        """Whether the value, with the further digits cut off, is what is printed: 0.7071 as 0.70."""
        beyond = math.copysign(1.0, self.value or value) * (value - self.value)
        return -2.0 * _EQUAL * self.slack <= beyond < 2.0 * self.slack

    def shown(self, value: float, further: int = 1) -> str:
        """Another number in the same form, with some digits more."""
        if not math.isfinite(value):
            return "–"
        if self.text.endswith("%"):
            return f"{100 * value:.{max(0, self.decimals - 2) + further}f}%"
        return f"{value:,.{self.decimals + further}f}" if self.decimals or further else f"{value:,.0f}"


def read_printed(text: str, decimals: int | None = None) -> Printed:
    """The number in ``text``, as it is printed: ``0.934``, ``.75``, ``6,040``, ``4.468%``.

    It is known to as many decimals as are written, or to more, ``decimals``, where zeros at the end were left out.
    """
    written = text.strip()
    percent = written.endswith("%")
    number = written.removesuffix("%").strip()
    if _THOUSANDS.fullmatch(number):
        number = number.replace(",", "")
    if not _NUMBER.fullmatch(number):
        comma = " (a comma stands between thousands; write decimals with a point)" if "," in number else ""
        raise StudyError(f"'{text}' is no number; write it as it is printed, such as \"0.934\"{comma}")
    exact = Decimal(number)
    exponent = exact.as_tuple().exponent
    assert isinstance(exponent, int)
    places = max(0, -exponent)
    if decimals is not None:
        if decimals < places:
            raise StudyError(f"'{text}' has {places} decimals, and decimals = {decimals} says fewer; leave that out")
        places = decimals
    return Printed(written, float(exact.scaleb(-2) if percent else exact), places + (2 if percent else 0))
