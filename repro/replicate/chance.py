"""How many printed numbers a setting gives by chance, against which the settings of a table are judged.

Whoever tries many settings of what is open finds one that gives some number. So the count of numbers that a setting
gives is compared with that of random numbers in their place, each drawn from the range that the settings span (the
middle 90% of their different values): there a wrong number has the best chance to be met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray

DRAWS = 1000
LEVEL = 0.05
_MIDDLE = (0.05, 0.95)


@dataclass(frozen=True, eq=False)
class Chance:
    """What settings meet by chance.

    expected  how many of the numbers one setting meets on average
    best      of each table of random numbers, how many the best of the settings meets
    """

    expected: float
    best: npt.NDArray[np.int64]

    def of(self, met: int) -> float:
        """The probability that one of the settings meets as many numbers, or more, by chance."""
        return float((1 + (self.best >= met).sum()) / (1 + len(self.best)))


def chance(values: FloatArray, reach: FloatArray, tried: npt.NDArray[np.bool_] | None = None) -> Chance:
    """The chance of settings (rows) to meet numbers (columns) that are printed.

    ``reach`` is how far from each printed number a value may be that counts as the same. All settings show in which
    range a number may lie; those of ``tried`` compete (by default all of them).
    """
    competing = values if tried is None else values[tried]
    distinct = np.unique(np.where(np.isnan(competing), np.inf, competing), axis=0)
    draws = np.random.default_rng(0)
    best = np.zeros((DRAWS, max(1, len(distinct))), dtype=np.int64)
    expected = 0.0
    for column, half in zip(range(values.shape[1]), reach.tolist(), strict=True):
        known = np.unique(values[:, column][np.isfinite(values[:, column])])
        if not len(known) or not len(distinct):
            continue
        low, high = np.quantile(known, _MIDDLE)
        random = draws.uniform(low - half, high + half, DRAWS) if half > 0 else np.full(DRAWS, np.nan)
        met = np.abs(random[:, None] - distinct[None, :, column]) <= half
        best += met
        ends = np.minimum(distinct[:, column] + half, high + half), np.maximum(distinct[:, column] - half, low - half)
        expected += float(np.maximum(ends[0] - ends[1], 0.0).mean() / max(high - low + 2 * half, 1e-300))
    return Chance(expected, best.max(axis=1))


@dataclass(frozen=True)
class Best:
    """The best setting that gives a number, judged on all numbers of the table.

    row       its place among the settings
    giving    how many of the ``settings`` give the number
    met       how many of the ``off`` numbers, which the claim's own setting does not give, this setting gives
    broken    how many of the ``held`` numbers, which the claim's own setting gives, this setting does not give
    expected  how many of the ``off`` numbers a setting meets by chance, on average
    chance    the probability that one of the settings meets as many by chance
    """

    row: int
    giving: int
    settings: int
    met: int
    off: int
    broken: int
    held: int
    expected: float
    chance: float

    @property
    def holds(self) -> bool:
        """Whether the setting explains the number: it breaks no other number, and chance does not explain it."""
        return self.giving > 0 and not self.broken and self.chance <= LEVEL

    def sentence(self, setting: str, which: str) -> str:
        """What was found; ``which`` names the settings: "settings of what is open"."""
        count = f"{self.giving:,} of {self.settings:,} {which} give it"
        if self.broken:
            return (
                f"{count}, but each breaks a number that the claim's own setting gives: {setting} breaks "
                f"{self.broken} of {self.held}"
            )
        odds = (
            f"by chance a setting meets {self.expected:.2g} of them, and the best one meets as many with probability "
            f"{self.chance:.2g}"
        )
        of_off = f"{self.met} of the {self.off} numbers that the claim's own setting does not give"
        if not self.holds:
            return f"{count}, but chance explains it: {setting} gives {of_off}; {odds}"
        kept = f" and keeps the {self.held} that it gives" if self.held else ""
        return f"given with {setting}, which gives {of_off}{kept}; {odds}; {count}"


@dataclass(frozen=True, eq=False)
class Table:
    """The numbers of a table (columns) under each setting of what is open (rows).

    reach  how far from each printed number a value may be that gives it
    gives  whether a setting gives a printed number
    held   the numbers that the claim's own setting gives
    order  of each setting, what comes first among those that give as many numbers
    """

    values: FloatArray
    reach: FloatArray
    gives: npt.NDArray[np.bool_]
    held: npt.NDArray[np.bool_]
    order: Sequence[tuple[int, str]]

    @cached_property
    def _broken(self) -> npt.NDArray[np.int64]:
        return (~self.gives[:, self.held]).sum(axis=1)

    @cached_property
    def _met(self) -> npt.NDArray[np.int64]:
        return self.gives[:, ~self.held].sum(axis=1)

    @cached_property
    def _chance(self) -> Chance:
        return chance(self.values[:, ~self.held], self.reach[~self.held], self._broken == 0)

    def best(self, column: int) -> Best:
        """The setting that explains a number best, if any gives it."""
        giving = np.flatnonzero(self.gives[:, column]).tolist()
        row = min(giving, key=lambda one: (self._broken[one], -self._met[one], self.order[one]), default=0)
        met = int(self._met[row])
        return Best(
            row=row,
            giving=len(giving),
            settings=len(self.values),
            met=met,
            off=int((~self.held).sum()),
            broken=int(self._broken[row]),
            held=int(self.held.sum()),
            expected=self._chance.expected,
            chance=self._chance.of(met),
        )
