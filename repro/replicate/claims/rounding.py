"""Whether a printed table rounds or truncates its numbers, inferred from all of its cells together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from repro.replicate.claims.printed import Printed
from repro.text import plural

# The largest accepted probability that a table which rounds looks as if it truncated.
LEVEL = 0.01
# How many numbers that rounding cannot give are needed at least; a single one may be an error.
MIN_TRUNCATED = 2


Rule = Literal["rounded", "truncated", "unknown"]


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

    def low(self, printed: Printed) -> float:
        """The lowest value that the printed number can stand for."""
        return self._interval(printed)[0]

    def high(self, printed: Printed) -> float:
        """The highest value that the printed number can stand for."""
        return self._interval(printed)[1]

    def _interval(self, printed: Printed) -> tuple[float, float]:
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
        """Why truncation does not explain a number in this table, where nothing else would; empty otherwise."""
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
    2^-m, which must be at most ``LEVEL``. In a table that truncates, about half of the offsets are above 0.5; a table
    whose share has a tail probability below ``LEVEL`` / 2 in the binomial distribution is not taken to truncate.
    """
    offsets = [printed.offset(value) for printed, value in pairs if math.isfinite(value)]
    informative = [offset for offset in offsets if offset and abs(offset) < 1.0]
    finite = [(printed, value) for printed, value in pairs if math.isfinite(value)]
    truncated = sum(
        printed.matches_truncated(value) and not printed.matches_rounded(value) for printed, value in finite
    )
    rounded = sum(printed.matches_rounded(value) and not printed.matches_truncated(value) for printed, value in finite)
    rule: Rule = "unknown"
    if rounded:
        rule = "rounded"
    elif (
        min(informative, default=-1.0) > 0
        and truncated >= MIN_TRUNCATED
        and 0.5 ** len(informative) <= LEVEL
        and _is_about_half(truncated, len(informative))
    ):
        rule = "truncated"
    return Rounding(rule, rounded, truncated, len(informative))


def _is_about_half(count: int, total: int) -> bool:
    """Whether ``count`` of ``total`` is a usual outcome of a binomial distribution with probability 1/2."""
    below = sum(math.comb(total, number) for number in range(count + 1)) / 2**total
    above = sum(math.comb(total, number) for number in range(count, total + 1)) / 2**total
    return min(below, above) >= LEVEL / 2
