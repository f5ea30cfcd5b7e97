"""Tolerances: the allowed distance between a measured and a printed number, and its source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from repro.replicate.claims.printed import Printed

Kind = Literal["rounding", "seeds", "interval"]
KINDS: tuple[Kind, ...] = ("rounding", "seeds", "interval")
LEVEL = 0.95


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
