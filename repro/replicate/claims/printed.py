"""Printed numbers: their digits, and the values that these stand for."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal

from repro.errors import StudyError

# 6,040 and 1,000,209.5 have commas between thousands; 0,934 does not.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# The rounding error allowed for a computed number: a share of the last digit, and a few units in the last place.
_SHARE, _ULPS = 1e-9, 8


@dataclass(frozen=True)
class Printed:
    """A printed number: its text, its value, and the number of decimals to which it is known.

    A percentage is a share: "4.468%" is 0.04468, known to five decimals.
    """

    text: str
    value: float
    decimals: int

    @property
    def slack(self) -> float:
        """The largest distance from ``value`` of a number that rounds to these digits."""
        return 0.5 * 10.0**-self.decimals

    def noise(self, value: float) -> float:
        """The rounding error of ``value`` as a double; smaller differences are ignored."""
        return _SHARE * self.slack + _ULPS * math.ulp(max(abs(value), abs(self.value)))

    def offset(self, value: float) -> float:
        """The distance of the value beyond the printed digits, away from zero, in units of the last digit.

        Rounded numbers have offsets from -0.5 to 0.5; truncated numbers have offsets from 0 up to 1.
        """
        beyond = math.copysign(1.0, self.value or value) * (value - self.value)
        return 0.0 if abs(beyond) <= self.noise(value) else beyond / (2.0 * self.slack)

    def matches_rounded(self, value: float) -> bool:
        """Whether the value, rounded to as many decimals, is the printed number; halves may round either way."""
        return abs(value - self.value) <= self.slack + self.noise(value)

    def matches_truncated(self, value: float) -> bool:
        """Whether the value, truncated to as many decimals, is the printed number: 0.7071 gives 0.70.

        Exactly 0.491 gives 49.1% and never 49.09%, whatever its representation as a double.
        """
        beyond = math.copysign(1.0, self.value or value) * (value - self.value)
        return -self.noise(value) <= beyond < 2.0 * self.slack - self.noise(value)

    def shown(self, value: float, further: int = 1) -> str:
        """Format another number in the same form, with ``further`` more digits."""
        if not math.isfinite(value):
            return "–"
        if self.text.endswith("%"):
            return f"{100 * value:.{max(0, self.decimals - 2) + further}f}%"
        return f"{value:,.{max(0, self.decimals + further)}f}"


def read_printed(text: str, decimals: int | None = None) -> Printed:
    """Read a number as it is printed: ``0.934``, ``.75``, ``6,040``, ``4.468%``.

    It is known to as many decimals as are written (1.2e3 to the hundreds). ``decimals`` gives a larger number of them
    for tables that leave out zeros at the end.
    """
    written = text.strip()
    percent = written.endswith("%")
    number = written.removesuffix("%").strip()
    if _THOUSANDS.fullmatch(number):
        number = number.replace(",", "")
    if not _NUMBER.fullmatch(number):
        comma = " (commas separate thousands; write decimals with a point)" if "," in number else ""
        raise StudyError(f"'{text}' is not a number; write it as it is printed, such as \"0.934\"{comma}")
    exact = Decimal(number)
    exponent = exact.as_tuple().exponent
    assert isinstance(exponent, int)
    places = -exponent
    if decimals is not None:
        if decimals < places:
            raise StudyError(f"'{text}' has {places} decimals, and decimals = {decimals} is fewer; leave out decimals")
        places = decimals
    return Printed(written, float(exact.scaleb(-2) if percent else exact), places + (2 if percent else 0))
