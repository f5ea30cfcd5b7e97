"""Printed numbers: the values that their digits stand for, the rounding of their table, and the tolerance."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

import numpy as np

from repro.errors import StudyError
from repro.extras import needed_for
from repro.text import plural

# 6,040 and 1,000,209.5 have commas between thousands; 0,934 does not.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# 0.400 ± 0.002, and 0.400 (0.002); a number in brackets without a point is a rank, or units of the last digit.
_SPREAD = re.compile(r"(.+?)(?:±|\\pm(?![A-Za-z])|\+/-|\+-|\+\\-)(.+)|(.+?)\(([^()]*\.[^()]*)\)")
# The rounding error allowed for a computed number: a share of the last digit, and a few units in the last place.
_SHARE, _ULPS = 1e-9, 8
# The largest accepted probability that a table which rounds looks as if it truncated.
_TRUNCATION_LEVEL = 0.01
# How many numbers that rounding cannot give are needed at least; a single one may be an error.
_MIN_TRUNCATED = 2

Rule = Literal["rounded", "truncated", "unknown"]
Kind = Literal["rounding", "seeds", "interval"]
LEVEL = 0.95


@dataclass(frozen=True)
class Printed:
    """A printed number: its text, its value, and the number of decimals to which it is known.

    A percentage is a share: "4.468%" is 0.04468, known to five decimals. ``spread`` is what is printed after ±.
    """

    text: str
    value: float
    decimals: int
    spread: Printed | None = None

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
        beyond = self._beyond(value)
        return 0.0 if abs(beyond) <= self.noise(value) else beyond / (2.0 * self.slack)

    def _beyond(self, value: float) -> float:
        return math.copysign(1.0, self.value or value) * (value - self.value)

    def matches_rounded(self, value: float) -> bool:
        """Whether the value, rounded to as many decimals, is the printed number; halves may round either way."""
        return abs(value - self.value) <= self.slack + self.noise(value)

    def matches_truncated(self, value: float) -> bool:
        """Whether the value, truncated to as many decimals, is the printed number: 0.7071 gives 0.70.

        Exactly 0.491 gives 49.1% and never 49.09%, whatever its representation as a double.
        """
        return -self.noise(value) <= self._beyond(value) < 2.0 * self.slack - self.noise(value)

    def shown(self, value: float, further: int = 1) -> str:
        """Format another number in the same form, with ``further`` more digits."""
        if not math.isfinite(value):
            return "–"
        if self.text.rstrip(") ").endswith("%"):
            return f"{100 * value:.{max(0, self.decimals - 2) + further}f}%"
        return f"{value:,.{max(0, self.decimals + further)}f}"


def read_printed(text: str, decimals: int | None = None) -> Printed:
    """Read a number as it is printed: ``0.934``, ``.75``, ``6,040``, ``4.468%``, ``0.400 ± 0.002``, ``0.400 (0.002)``.

    It is known to as many decimals as are written (1.2e3 to the hundreds). ``decimals`` gives a larger number of them
    for tables that leave out zeros at the end.
    """
    written = text.strip()
    if parts := _SPREAD.fullmatch(written.replace("$", "")):
        number, spread = ((parts[1] or parts[3]).strip(), (parts[2] or parts[4]).strip())
        if spread.endswith("%") and not number.endswith("%"):
            number += "%"
        elif number.endswith("%") and not spread.endswith("%"):
            spread += "%"
        value, spread_value = read_printed(number, decimals), read_printed(spread.lstrip("+"))
        if value.spread is None and spread_value.spread is None:
            return replace(value, text=written, spread=spread_value)
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


@dataclass(frozen=True)
class Rounding:
    """The rule by which a table prints numbers, and how many numbers show it.

    rule         "rounded": some number can only come from rounding; "truncated": all numbers agree with truncation,
                 and chance does not explain that; "unknown": the numbers show neither
    rounded      how many numbers agree with rounding and not with truncation
    truncated    how many numbers agree with truncation and not with rounding
    informative  how many numbers lie within one unit of the last digit, but not exactly on it; the others show nothing
    """

    rule: Rule = "unknown"
    rounded: int = 0
    truncated: int = 0
    informative: int = 0

    def interval(self, printed: Printed) -> tuple[float, float]:
        """The lowest and the highest value that the printed number can stand for."""
        value, slack = printed.value, printed.slack
        below = 0.0 if self.rule == "truncated" else slack
        beyond = slack if self.rule == "rounded" else 2.0 * slack
        if value == 0.0:
            below = beyond  # truncation reaches zero from both sides
        noise = printed.noise(value)
        down, up = (beyond, below) if value < 0 else (below, beyond)
        return value - down - noise, value + up + noise

    def gives(self, printed: Printed, value: float) -> bool:
        """Whether this table would print the value as ``printed``."""
        return printed.matches_rounded(value) or (self.rule == "truncated" and printed.matches_truncated(value))

    @property
    def sentence(self) -> str:
        """The evidence that the table truncates."""
        return (
            f"the table truncates: all {self.informative} informative numbers lie beyond the printed digits, and "
            f"{self.truncated} of them would be rounded up (the probability of this in a table that rounds is 1 in "
            f"{2**self.informative:,})"
        )

    def doubt(self, printed: Printed, value: float) -> str:
        """The reason why truncation does not explain a number in this table, if nothing else would; empty otherwise."""
        if self.rule == "truncated" or printed.matches_rounded(value) or not printed.matches_truncated(value):
            return ""
        sentence = f"{printed.shown(value, 2)} truncated is {printed.text}, but "
        if self.rule == "rounded":
            return sentence + f"the table rounds ({plural(self.rounded, 'number')} can only come from rounding)"
        return sentence + f"{plural(self.informative, 'informative number')} of the table cannot show that it truncates"


def infer_rounding(pairs: Sequence[tuple[Printed, float]]) -> Rounding:
    """Infer the rule of a table from pairs of a printed number and the value that was measured for it.

    The offsets (see ``Printed.offset``) of rounded numbers, and of numbers that deviate a little for another reason,
    are negative as often as positive. In a table that rounds, m offsets are therefore all positive with probability
    2^-m, which must be at most 0.01. In a table that truncates, about half of the offsets are above 0.5; a table whose
    share has a tail probability below 0.005 in the binomial distribution is not taken to truncate.
    """
    finite = [(printed, value) for printed, value in pairs if math.isfinite(value)]
    offsets = [printed.offset(value) for printed, value in finite]
    informative = [offset for offset in offsets if offset and abs(offset) < 1.0]
    matches = [(printed.matches_rounded(value), printed.matches_truncated(value)) for printed, value in finite]
    rounded, truncated = matches.count((True, False)), matches.count((False, True))
    rule: Rule = "unknown"
    if rounded:
        rule = "rounded"
    elif (
        min(informative, default=-1.0) > 0
        and truncated >= _MIN_TRUNCATED
        and 0.5 ** len(informative) <= _TRUNCATION_LEVEL
        and _is_about_half(truncated, len(informative))
    ):
        rule = "truncated"
    return Rounding(rule, rounded, truncated, len(informative))


def _is_about_half(count: int, total: int) -> bool:
    """Whether ``count`` of ``total`` is a usual outcome of a binomial distribution with probability 1/2."""
    below = sum(math.comb(total, number) for number in range(count + 1)) / 2**total
    above = sum(math.comb(total, number) for number in range(count, total + 1)) / 2**total
    return min(below, above) >= _TRUNCATION_LEVEL / 2


@dataclass(frozen=True)
class Tolerance:
    """The allowed distance between a measured and a printed number.

    kind      "rounding": the number must round to the printed digits; "seeds": as far as other seeds move it;
              "interval": ``width`` to either side, as the source itself states
    source    where the tolerance comes from, in words
    decimals  the number of printed decimals, where zeros at the end were left out
    level     for kind "seeds", the coverage of the prediction interval
    seeds     the seeds to run for it; by default those of the claim
    """

    kind: Kind = "rounding"
    source: str = ""
    width: float = 0.0
    decimals: int | None = None
    level: float = LEVEL
    seeds: tuple[int, ...] = ()

    @property
    def sentence(self) -> str:
        """The tolerance in words."""
        match self.kind:
            case "rounding":
                sentence = "a number must round to the printed digits"
            case "seeds":
                sentence = (
                    f"a printed number must lie in the {self.level:.0%} prediction interval of the runs with each seed"
                )
            case _:
                sentence = f"a number may deviate by {self.width:g}, plus rounding"
        return sentence + (f" ({self.source})" if self.source else "")

    def reach(self, values: Sequence[float]) -> float:
        """The allowed distance between their mean and the printed number, without rounding; 0 for kind "rounding".

        Kind "seeds" treats the printed number as one more run of the same experiment. With the mean m and the standard
        deviation s of n runs whose numbers are normally distributed, the next one lies, with probability ``level``, in
        the prediction interval

            m ± t * s * sqrt(1 + 1/n),   t the (1 + level)/2 quantile of Student's t with n - 1 degrees of freedom

        which is wide where there are few runs (t is 12.7 for two, 2.8 for five). A single run has no spread.
        (Geisser, Predictive inference, Chapman & Hall 1993, chapter 2.)
        """
        if self.kind == "interval":
            return self.width
        finite = [value for value in values if math.isfinite(value)]
        if self.kind != "seeds" or len(finite) < 2:
            return 0.0
        with needed_for("the tolerance 'seeds'"):
            from scipy.special import stdtrit

        n, deviation = len(finite), float(np.std(finite, ddof=1))
        return float(stdtrit(n - 1, (1 + self.level) / 2)) * deviation * math.sqrt(1 + 1 / n)

    def holds(self, printed: Printed, values: Sequence[float]) -> bool:
        """Whether the printed number is within the tolerance of the measured values, one for each seed."""
        reach = self.reach(values)
        return reach > 0 and abs(mean(values) - printed.value) <= reach + printed.slack * (1 + 1e-9)


def mean(values: Sequence[float]) -> float:
    """The mean of the finite values."""
    finite = [value for value in values if math.isfinite(value)]
    return math.fsum(finite) / len(finite) if finite else math.nan
