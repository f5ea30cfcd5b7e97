"""Effect sizes, which state how large a difference is; all are of ``a`` over ``b`` on the same users."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import DataError
from repro.extras import needed_for
from repro.stats.equality import differences


def pair(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The values of two systems as arrays; raises an error unless they are pairs of finite numbers."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise DataError(
            f"the two systems have {first.size:,} and {second.size:,} values; give one value of each for each user"
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise DataError("each user needs finite values of both systems, and one is not a number; remove that user")
    return first, second


def mean(values: npt.ArrayLike) -> float:
    """The mean, from the exact sum; NaN for no values."""
    array = np.asarray(values, dtype=np.float64)
    return math.fsum(array) / len(array) if len(array) else math.nan


def mean_difference(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """mean(a) - mean(b)."""
    first, second = pair(a, b)
    return mean(first) - mean(second)


def relative_difference(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """(mean(a) - mean(b)) / |mean(b)|; NaN if the mean of b is 0."""
    base = abs(mean(b))
    return mean_difference(a, b) / base if base else math.nan


def cohen_dz(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """The mean of the differences over their standard deviation with n - 1 (Cohen 1988, section 2.3.5).

    0 if all differences are 0; infinite if they are all the same and not 0.
    """
    difference = differences(*pair(a, b))
    if len(difference) < 2:
        return math.nan
    spread = float(np.std(difference, ddof=1))
    centre = mean(difference)
    if np.ptp(difference) == 0:
        return math.copysign(math.inf, centre) if centre else 0.0
    return centre / spread


def rank_biserial(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """(W+ - W-) / (W+ + W-), of the rank sums of the Wilcoxon test, ties dropped (Kerby 2014).

    1: each difference is positive; -1: each is negative; 0 if there are only ties.
    """
    with needed_for("the rank-biserial correlation"):
        from scipy import stats

    difference = differences(*pair(a, b))
    difference = difference[difference != 0]
    if not len(difference):
        return 0.0
    ranks = stats.rankdata(np.abs(difference))
    return float(np.sum(np.sign(difference) * ranks) / np.sum(ranks))


def superiority(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """The share of users with a higher value of a, ties counted half: A12 (Vargha & Delaney 2000) for pairs."""
    difference = differences(*pair(a, b))
    if not len(difference):
        return math.nan
    return float(((difference > 0).sum() + (difference == 0).sum() / 2) / len(difference))
