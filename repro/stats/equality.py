"""When two values are the same: rounding must not decide a tie.

0.3 - 0.2 and 0.2 - 0.1 are different float64 numbers, and a test by ranks or signs would take them for different
effects. So values are compared on a grid whose step is ``TOLERANCE`` times their usual size (the power of two below
the median of those that are not 0): far above rounding, far below any difference that matters.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray

TOLERANCE = 2.0**-40


def differences(a: FloatArray, b: FloatArray) -> FloatArray:
    """``a - b``, on the grid: 0 where the two are the same."""
    return _on_grid(a - b, np.abs(np.concatenate([a, b])))


def gridded(values: FloatArray) -> FloatArray:
    """The values, on the grid."""
    return _on_grid(values, np.abs(values))


def _on_grid(values: FloatArray, sizes: npt.NDArray[np.float64]) -> FloatArray:
    sizes = sizes[sizes > 0]
    step = TOLERANCE * 2.0 ** np.floor(np.log2(np.median(sizes))) if len(sizes) else 0.0
    if not step:  # nothing but zeros, or numbers too small to have a grid
        return values
    on_grid: FloatArray = np.rint(values / step) * step
    return on_grid + 0.0  # no negative zeros
