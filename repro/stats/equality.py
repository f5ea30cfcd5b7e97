"""Equality of values up to rounding, so that rounding errors do not decide ties.

0.3 - 0.2 and 0.2 - 0.1 are different float64 numbers, and a test by ranks or signs would treat them as different
effects. Values are therefore compared on a grid whose step is ``TOLERANCE`` times their typical size (the power of two
below the median of the non-zero values): far above rounding errors, and far below any relevant difference.
"""

from __future__ import annotations

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
