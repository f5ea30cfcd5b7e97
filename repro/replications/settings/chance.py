"""The number of printed numbers that a setting of the open decisions matches by chance.

With many settings, one of them matches some number by chance. The count of matched numbers is therefore compared with
that for random numbers: each drawn from the range of the settings' values (the middle 90% of the distinct values),
where a wrong number is most likely to be matched, or about as far from the claimed setting's number as the printed one
is, because wrong digits and settings of little effect are both near. The larger of the two probabilities counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.protocol import Value

Choice = tuple[Value | None, ...]  # the values of open decisions

DRAWS = 1000
LEVEL = 0.05
_MIDDLE = (0.05, 0.95)
_AWAY = 2.0  # how far random numbers are from the claimed setting's, in multiples of the distance of the printed one


@dataclass(frozen=True, eq=False)
class Chance:
    """The number of matches by chance.

    expected  how many numbers a setting matches on average
    best      for each way of drawing numbers, and each table of them, how many the best of the settings matches
    """

    expected: float
    best: Sequence[npt.NDArray[np.int64]]

    def probability(self, matched: int) -> float:
        """The probability that one of the settings matches as many numbers, or more, by chance."""
        return max(float((1 + (best >= matched).sum()) / (1 + len(best))) for best in self.best)


def chance(
    values: FloatArray,
    reach: FloatArray,
    tried: npt.NDArray[np.bool_] | None = None,
    printed: FloatArray | None = None,
) -> Chance:
    """The matches by chance of settings (rows, the claimed one first) with printed numbers (columns).

    values   the number of each setting in each column
    reach    the largest distance of a value that matches, by column
    tried    the settings that compete (by default all); the range of random numbers comes from all settings
    printed  the printed numbers, for numbers that are about as far from the claimed setting's
    """
    competing = values if tried is None else values[tried]
    distinct = np.unique(np.where(np.isnan(competing), np.inf, competing), axis=0)
    draws = np.random.default_rng(0)
    size = DRAWS, max(1, len(distinct))
    anywhere, near = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    expected = 0.0
    for column, half in enumerate(reach.tolist()):
        finite = np.unique(values[:, column][np.isfinite(values[:, column])])
        if not len(finite) or not len(distinct):
            continue
        low, high = np.quantile(finite, _MIDDLE)
        random = draws.uniform(low - half, high + half, DRAWS) if half > 0 else np.full(DRAWS, np.nan)
        anywhere += np.abs(random[:, None] - distinct[None, :, column]) <= half
        if printed is not None and np.isfinite(own := values[0, column]):
            random = own + _AWAY * abs(printed[column] - own) * draws.uniform(-1.0, 1.0, DRAWS)
            near += np.abs(random[:, None] - distinct[None, :, column]) <= half
        ends = np.minimum(distinct[:, column] + half, high + half), np.maximum(distinct[:, column] - half, low - half)
        expected += float(np.maximum(ends[0] - ends[1], 0.0).mean() / max(high - low + 2 * half, 1e-300))
    return Chance(expected, [anywhere.max(axis=1), near.max(axis=1)])


@dataclass(frozen=True)
class BestSetting:
    """The best setting that gives a number, judged on all numbers of the table.

    row       its row in the table of settings
    giving    how many of the ``settings`` give the number
    met       how many of the ``off`` numbers, which the claim's own setting does not give, this setting gives
    broken    how many of the ``held`` numbers, which the claim's own setting gives, this setting does not give
    expected  how many of the ``off`` numbers a setting matches by chance, on average
    chance    the probability that one of the settings matches as many by chance
    other     the setting that explains the table, if it is another one that does not give the number
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
    other: str = ""

    @property
    def holds(self) -> bool:
        """Whether the setting explains the number: it breaks no other number, and chance is an unlikely reason."""
        return self.giving > 0 and not self.broken and self.chance <= LEVEL and not self.other

    def sentence(self, setting: str, which: str) -> str:
        """The result in words; ``which`` names the settings, such as "settings of the open decisions"."""
        count = f"{self.giving:,} of {self.settings:,} {which} give it"
        if self.other:
            return f"{count}, but another setting explains more of the table: {self.other}"
        if self.broken:
            return (
                f"{count}, but each breaks a number that the claim's own setting gives: {setting} breaks "
                f"{self.broken} of {self.held}"
            )
        odds = (
            f"by chance a setting matches {self.expected:.2g} of them, and the best one matches as many with "
            f"probability {self.chance:.2g}"
        )
        of_off = f"{self.met} of the {self.off} numbers that the claim's own setting does not give"
        if not self.holds:
            return f"{count}, but chance explains it: {setting} gives {of_off}; {odds}"
        kept_numbers = f" and keeps the {self.held} that it gives" if self.held else ""
        return f"given with {setting}, which gives {of_off}{kept_numbers}; {odds}; {count}"


@dataclass(frozen=True, eq=False)
class SettingsTable:
    """The numbers of a table (columns) under each setting of the open decisions (rows, the claimed one first).

    printed   the printed numbers
    reach     the largest distance of a value that gives the printed number, by column
    gives     whether a setting gives a printed number
    held      whether the claim's own setting gives a number, by column
    order     sort key of each setting among those that give the same number of numbers
    in_words  each setting in words, by its row
    choices   the values of the open decisions of each setting
    """

    values: FloatArray
    printed: FloatArray
    reach: FloatArray
    gives: npt.NDArray[np.bool_]
    held: npt.NDArray[np.bool_]
    order: Sequence[tuple[int, str]]
    in_words: Callable[[int], str]
    choices: Sequence[Choice] = ()

    @cached_property
    def _broken(self) -> npt.NDArray[np.int64]:
        return (~self.gives[:, self.held]).sum(axis=1)

    @cached_property
    def _met(self) -> npt.NDArray[np.int64]:
        return self.gives[:, ~self.held].sum(axis=1)

    @cached_property
    def _chance(self) -> Chance:
        off = ~self.held
        return chance(self.values[:, off], self.reach[off], self._broken == 0, self.printed[off])

    @cached_property
    def one(self) -> int | None:
        """The one setting that explains the table; None if none does."""
        row = min(range(len(self.values)), key=self._rank)
        met = int(self._met[row])
        return row if met and not self._broken[row] and self._chance.probability(met) <= LEVEL else None

    def _rank(self, row: int) -> tuple[int, int, tuple[int, str]]:
        return int(self._broken[row]), -int(self._met[row]), self.order[row]

    def best(self, column: int) -> BestSetting:
        """The setting that explains a number best; its ``giving`` is 0 if no setting gives the number.

        If one setting explains the table, another one explains none of its numbers.
        """
        giving = np.flatnonzero(self.gives[:, column]).tolist()
        row, other = min(giving, key=self._rank, default=0), ""
        if self.one is not None and self.gives[self.one, column]:
            row = self.one
        elif self.one is not None:
            other = self.in_words(self.one)
        met = int(self._met[row])
        return BestSetting(
            row=row,
            giving=len(giving),
            settings=len(self.values),
            met=met,
            off=int((~self.held).sum()),
            broken=int(self._broken[row]),
            held=int(self.held.sum()),
            expected=self._chance.expected,
            chance=self._chance.probability(met),
            other=other,
        )
