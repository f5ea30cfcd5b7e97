"""How far a measured number may be from a printed one, and where that comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from repro.replicate.printed import Printed

Kind = Literal["rounding", "seeds", "interval"]
KINDS: tuple[Kind, ...] = ("rounding", "seeds", "interval")
LEVEL = 0.95


@dataclass(frozen=True)
class Tolerance:
    """How far a number may be off.

    kind      "rounding": not at all, it must round to the printed digits; "seeds": as far as another seed moves it;
              "interval": as far as the source itself says, ``width`` to either side
    source    where the tolerance comes from, in words
    decimals  to how many decimals numbers are printed, where zeros at the end were left out
    level     of kind "seeds": the share of further runs that the interval is to hold
    seeds     those to be run for it; by default the claim's
    """

    kind: Kind = "rounding"
    source: str = ""
    width: float = 0.0
    decimals: int | None = None
    level: float = LEVEL
    seeds: tuple[int, ...] = ()

    @property
    def sentence(self) -> str:
        """What is tolerated, in words."""
        match self.kind:
            case "rounding":
                told = "a number must round to the printed digits"
            case "seeds":
                told = (
                    f"a printed number must lie in the {self.level:.0%} prediction interval of the runs with each seed"
                )
            case _:
                told = f"a number may be {self.width:g} off, and what rounding adds"
        return told + (f" ({self.source})" if self.source else "")

    def reach(self, values: Sequence[float]) -> float:
        """How far from their mean the printed number may be, beside what rounding adds; 0 where only rounding counts.

        Of kind "seeds", the printed number is taken for one more run of the same experiment. With the mean m and the
        standard deviation s of n runs whose numbers are normally distributed, the next one lies, with probability
        ``level``, in the prediction interval

            m ± t * s * sqrt(1 + 1/n),   t the (1 + level)/2 quantile of Student's t with n - 1 degrees of freedom

        which is wide where there are few runs (t is 12.7 for two, 2.8 for five), as it should be. One run has no
        spread. (Geisser, Predictive inference, Chapman & Hall 1993, chapter 2.)
        """
        if self.kind == "interval":
            return self.width
        known = [value for value in values if math.isfinite(value)]
        if self.kind != "seeds" or len(known) < 2:
            return 0.0
        from scipy.special import stdtrit

        n, deviation = len(known), float(np.std(known, ddof=1))
        return float(stdtrit(n - 1, (1 + self.level) / 2)) * deviation * math.sqrt(1 + 1 / n)

    def holds(self, printed: Printed, values: Sequence[float]) -> bool:
        """Whether the printed number is within the tolerance of what was measured, seed by seed."""
        reach = self.reach(values)
        return reach > 0 and abs(mean(values) - printed.value) <= reach + printed.slack * (1 + 1e-9)


def mean(values: Sequence[float]) -> float:
    """The mean of the numbers that are finite."""
    known = [value for value in values if math.isfinite(value)]
    return math.fsum(known) / len(known) if known else math.nan
