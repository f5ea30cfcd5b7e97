"""Shares as exact whole numbers: 14.5% of 100 is 14.5, not 14.499999999999998; and items by popularity."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
import numpy.typing as npt

CountArray = npt.NDArray[np.int64]


def exact(share: float) -> Fraction:
    """The decimal number as it was written: 1/5 for 0.2, not the nearest binary fraction."""
    return Fraction(repr(share))


def share_of(count: int, share: float, rounding: str = "round") -> int:
    """``share`` of ``count``: to the nearest whole number (halves up), down or up."""
    value = exact(share) * count
    match rounding:
        case "floor":
            return floor(value)
        case "ceil":
            return ceil(value)
    return floor(value + Fraction(1, 2))


def shares_of(counts: CountArray, share: float, rounding: str) -> CountArray:
    """:func:`share_of` for each count. Few counts differ, so each distinct one is worked out once."""
    distinct, places = np.unique(counts, return_inverse=True)
    shares = np.array([share_of(int(count), share, rounding) for count in distinct], dtype=np.int64)
    return shares[places]


def broken_shares(counts: CountArray, share: float) -> int:
    """The number of counts with a share that is not a whole number, so that rounding decides."""
    return int((shares_of(counts, share, "floor") != shares_of(counts, share, "ceil")).sum())


def by_popularity(counts: CountArray) -> CountArray:
    """The item codes by falling number of rows; ties by code."""
    return np.argsort(-counts, kind="stable")
