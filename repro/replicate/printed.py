"""A number as it was printed: its digits, and the values that they stand for."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal

from repro.errors import StudyError

# 6,040 and 1,000,209.5, with commas between thousands; 0,934 is none of them.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# How far a computed number may be off: this share of the last digit, and a few units in the last place of a double.
_SHARE, _ULPS = 1e-9, 8


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

    def noise(self, value: float) -> float:
        """How far off ``value`` may be because doubles are not exact; differences of this size decide nothing."""
        return _SHARE * self.slack + _ULPS * math.ulp(max(abs(value), abs(self.value)))

    def offset(self, value: float) -> float:
        """How far the value lies beyond the printed digits, away from zero, in units of the last digit.

        Numbers that were rounded have offsets from -0.5 to 0.5; numbers whose digits were cut off, from 0 up to 1.
        """
        beyond = math.copysign(1.0, self.value or value) * (value - self.value)
        return 0.0 if abs(beyond) <= self.noise(value) else beyond / (2.0 * self.slack)

    def rounds_from(self, value: float) -> bool:
        """Whether the value, rounded to as many decimals, is what is printed; halves may have gone either way."""
        return abs(value - self.value) <= self.slack + self.noise(value)

    def cut_from(self, value: float) -> bool:
        """Whether the value, with the further digits cut off, is what is printed: 0.7071 as 0.70.

        Exactly 0.491 is 49.1%, and never 49.09%, whatever a double makes of it.
        """
        beyond = math.copysign(1.0, self.value or value) * (value - self.value)
        return -self.noise(value) <= beyond < 2.0 * self.slack - self.noise(value)

    def shown(self, value: float, further: int = 1) -> str:
        """Another number in the same form, with some digits more."""
        if not math.isfinite(value):
            return "–"
        if self.text.endswith("%"):
            return f"{100 * value:.{max(0, self.decimals - 2) + further}f}%"
        return f"{value:,.{max(0, self.decimals + further)}f}"


def read_printed(text: str, decimals: int | None = None) -> Printed:
    """The number in ``text``, as it is printed: ``0.934``, ``.75``, ``6,040``, ``4.468%``.

    It is known to as many decimals as are written (1.2e3 to the hundreds), or to more, ``decimals``, where zeros at the
    end were left out.
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
    places = -exponent
    if decimals is not None:
        if decimals < places:
            raise StudyError(f"'{text}' has {places} decimals, and decimals = {decimals} says fewer; leave that out")
        places = decimals
    return Printed(written, float(exact.scaleb(-2) if percent else exact), places + (2 if percent else 0))
