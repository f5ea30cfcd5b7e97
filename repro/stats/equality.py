"""Equality of values up to rounding, so that rounding errors do not decide ties.

0.3 - 0.2 and 0.2 - 0.1 are different float64 numbers, and a test by ranks or signs would treat them as different
effects. Values are therefore compared on a grid whose step is ``TOLERANCE`` times their typical size (the power of two
below the median of the non-zero values): far above rounding errors, and far below any relevant difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray

TOLERANCE = 2.0**-40


def differences(a: FloatArray, b: FloatArray) -> FloatArray:
    """``a - b`` on the grid: 0 where the two are equal."""
    return _on_grid(a - b, np.abs(np.concatenate([a, b])))


def gridded(values: FloatArray) -> FloatArray:
    """The values rounded to the grid."""
    return _on_grid(values, np.abs(values))


def _on_grid(values: FloatArray, sizes: npt.NDArray[np.float64]) -> FloatArray:
    sizes = sizes[sizes > 0]
    step = TOLERANCE * 2.0 ** np.floor(np.log2(np.median(sizes))) if len(sizes) else 0.0
    if not step:  # only zeros, or numbers too small for a grid
        return values
    on_grid: FloatArray = np.rint(values / step) * step
    return on_grid + 0.0  # no negative zeros


def common_decimals(values: npt.ArrayLike) -> int | None:
    """To how many decimals all values agree: they differ by at most half a unit of the last of these.

    Negative if they differ by more than half of 1; None if they do not differ, rounding errors aside.

    >>> repro.stats.equality.common_decimals([0.12341, 0.12344])
    4
    """
    array = np.asarray(values, dtype=np.float64)
    gap = float(np.ptp(array)) if len(array) else 0.0
    if gap <= TOLERANCE * float(np.abs(array).max(initial=0.0)):
        return None
    decimals = -math.ceil(math.log10(2 * gap))
    # The logarithm may be off by a rounding error; a gap of half a unit counts as agreement, rounding errors aside.
    return decimals + 1 if gap <= (0.5 + TOLERANCE) * 10.0 ** -(decimals + 1) else decimals


def agreeing(values: Mapping[str, float], decimals: int) -> list[tuple[str, ...]]:
    """The names in sets whose values agree to ``decimals``, the largest set first, and each in the order of names.

    Sets are formed from the lowest value upwards: a value belongs to the set if it agrees with the lowest one there.
    """
    sets: list[list[str]] = []
    for name in sorted(values, key=values.__getitem__):
        common = common_decimals([values[sets[-1][0]], values[name]]) if sets else -1
        if sets and (common is None or common >= decimals):
            sets[-1].append(name)
        else:
            sets.append([name])
    place = {name: number for number, name in enumerate(values)}
    ordered = [tuple(sorted(names, key=place.__getitem__)) for names in sets]
    return sorted(ordered, key=lambda names: (-len(names), place[names[0]]))
