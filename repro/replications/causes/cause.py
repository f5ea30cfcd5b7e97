"""Causes, and how many printed numbers each of them gives that the claim's own setting does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray

Kind = Literal["leak", "mistake"]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.intp]

LEAST = 2  # a single number may be matched by many causes
SHARE = 0.8  # of the numbers in question that a cause concerns, how many it must give
_NOISE = 1e-9


@dataclass(frozen=True, eq=False)
class Cause:
    """A possible cause of the numbers of some cells.

    cells    the cells that it concerns, by position
    values   the number that it gives for each of them
    changed  how many things it changes: decisions, metrics, pairs of rows
    breadth  0 if it concerns the whole table, 1 if it concerns some rows or columns
    decided  whether it comes from decisions, and not from the arrangement of the table
    """

    name: str
    kind: Kind
    cells: IntArray
    values: FloatArray
    changed: int = 1
    breadth: int = 0
    decided: bool = True


@dataclass(frozen=True, eq=False)
class PrintedNumbers:
    """The printed numbers of a table, by cell.

    values  the measured numbers
    reach   the largest distance between a number and the printed one that it gives
    held    the numbers that the measured ones give
    off     the numbers in question; those that are neither have another explanation
    """

    printed: FloatArray
    values: FloatArray
    reach: FloatArray
    held: BoolArray
    off: BoolArray

    def given(self, cells: IntArray, values: FloatArray) -> BoolArray:
        """A mask of the printed numbers of ``cells`` that ``values`` give."""
        near: BoolArray = np.abs(values - self.printed[cells]) <= self.reach[cells] * (1 + _NOISE) + 1e-12
        return near

    def with_cause(self, cause: Cause) -> PrintedNumbers:
        """The table after ``cause`` is accepted: the numbers that it gives are held from then on."""
        values, held = self.values.copy(), self.held.copy()
        values[cause.cells] = cause.values
        held[cause.cells] |= self.off[cause.cells] & self.given(cause.cells, cause.values)
        return PrintedNumbers(self.printed, values, self.reach, held, self.off & ~held)


@dataclass(frozen=True, eq=False)
class Fit:
    """The degree to which a cause explains a table.

    met      the cells in question that it gives
    concern  how many cells in question it concerns
    broken   how many numbers it breaks that the measured ones give
    """

    cause: Cause
    met: IntArray
    concern: int
    broken: int

    @property
    def explains(self) -> bool:
        """Whether it gives several numbers, nearly all that it concerns, and breaks none."""
        return not self.broken and enough(len(self.met), self.concern)


def enough(met: int, concern: int) -> bool:
    """Whether a cause gives enough of the numbers in question that it concerns."""
    return met >= LEAST and met >= SHARE * concern


def fit(cause: Cause, table: PrintedNumbers) -> Fit:
    """The degree to which ``cause`` explains ``table``."""
    given = table.given(cause.cells, cause.values)
    off, held = table.off[cause.cells], table.held[cause.cells]
    return Fit(cause, cause.cells[given & off], int(off.sum()), int((held & ~given).sum()))


def ordered(fits: Sequence[Fit]) -> list[Fit]:
    """The causes that explain the table, the best first.

    A cause that gives more numbers comes first. Of equals, the milder, the simpler and the broader come first: a leak
    is named only where nothing else gives as many numbers.
    """

    def order(each: Fit) -> tuple[int, bool, int, int, str]:
        cause = each.cause
        return -len(each.met), cause.kind == "leak", cause.changed, cause.breadth, cause.name

    return sorted((each for each in fits if each.explains), key=order)
