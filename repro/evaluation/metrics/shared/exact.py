"""Exact sums of float64: rounded once, at the end, so that they do not depend on the order of their terms.

The result is that of :func:`math.fsum`, ten times faster for arrays. A float64 is a whole number of at most 53
bits times a power of two. It is added, shifted into place, to counters of 32 bits each that span all powers; the
counters have room for two thousand million terms before they overflow (Neal, Fast exact summation using small and
large superaccumulators, 2015).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from repro.compiling import compiled
from repro.data.interactions import FloatArray

_LOW = np.int64(0xFFFFFFFF)
_FRACTION = np.int64((1 << 52) - 1)
_IMPLICIT = np.int64(1 << 52)
_EXPONENT = np.int64(0x7FF)
# The smallest float64 above 0 is 2 ** -1074: the unit of the first counter.
_UNIT = 1 << 1074


def exact_sum(values: FloatArray) -> float:
    """The sum, rounded once; infinite or not a number if a term is."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    counters = np.zeros(68, dtype=np.int64)
    if not _add_up(array.view(np.int64), counters):
        return math.fsum(array.tolist())
    total = sum(int(counters[at]) << (32 * int(at)) for at in np.flatnonzero(counters))
    return total / _UNIT


def exact_mean(values: FloatArray) -> float:
    """The mean, from the exact sum; not a number if there are no values."""
    return exact_sum(values) / len(values) if len(values) else math.nan


@compiled()
def _add_up(bits: Any, counters: Any) -> bool:
    """Add the floats with these bits to the counters; False where one of them is not finite."""
    for n in range(len(bits)):
        exponent = (bits[n] >> 52) & _EXPONENT
        if exponent == _EXPONENT:
            return False
        mantissa = bits[n] & _FRACTION
        if exponent > 0:
            mantissa |= _IMPLICIT
            exponent -= 1
        at, shift = exponent >> 5, exponent & 31
        upper = mantissa >> (32 - shift)
        sign = -1 if bits[n] < 0 else 1
        counters[at] += sign * ((mantissa << shift) & _LOW)
        counters[at + 1] += sign * (upper & _LOW)
        counters[at + 2] += sign * (upper >> 32)
    return True
