"""Confidence intervals of the difference in means, on the same users.

t           mean ± t(n - 1) * sd / sqrt(n)
percentile  quantiles of the means of resampled users (Efron 1979)
bca         the same, corrected for bias and for a standard deviation that changes with the mean; second-order
            accurate (Efron 1987). The jackknife of a mean has a closed form, so it is cheap
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import StudyError, nearest
from repro.extras import needed_for
from repro.stats.effects import pair
from repro.stats.equality import TOLERANCE
from repro.stats.resampling import RESAMPLES, Users, resampled_means

Method = Literal["t", "percentile", "bca"]
METHODS: tuple[Method, ...] = ("t", "percentile", "bca")


class Interval(NamedTuple):
    """An interval from ``low`` to ``high``; NaN if there are fewer than two users."""

    low: float
    high: float


def difference_interval(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    confidence: float = 0.95,
    method: str = "t",
    *,
    users: Users | None = None,
    samples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """The interval of mean(a) - mean(b); ``samples``, ``seed`` and ``users`` (ids) are those of the bootstrap."""
    check_method(method)
    if not 0 < confidence < 1:
        raise StudyError(f"confidence = {confidence} must be between 0 and 1")
    table = np.stack(pair(a, b))
    if method == "t" or table.shape[1] < 2:
        return t_interval(table[0] - table[1], confidence)
    means = resampled_means(table, samples, seed, users=users)
    return bootstrap_interval(table[0] - table[1], means[:, 0] - means[:, 1], confidence, method)


def check_method(method: str) -> None:
    """Raise an error for an unknown method."""
    if method not in METHODS:
        raise StudyError(f"there is no interval '{method}'{nearest(method, METHODS)} Intervals: {', '.join(METHODS)}")


def t_interval(difference: FloatArray, confidence: float) -> Interval:
    """The interval of the mean, assuming that it is normally distributed."""
    with needed_for("the t interval"):
        from scipy import stats

    n = len(difference)
    if n < 2:
        return Interval(math.nan, math.nan)
    mean = math.fsum(difference) / n
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * float(np.std(difference, ddof=1)) / math.sqrt(n)
    return Interval(mean - half, mean + half)


def bootstrap_interval(difference: FloatArray, resampled: FloatArray, confidence: float, method: str) -> Interval:
    """The interval of the mean of ``difference`` from its ``resampled`` means."""
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "bca" and np.ptp(difference) > 0:
        tails = _corrected_tails(difference, resampled, tails)
    low, high = np.quantile(resampled, tails)
    return Interval(float(low), float(high))


def _corrected_tails(difference: FloatArray, resampled: FloatArray, tails: FloatArray) -> FloatArray:
    """The quantiles corrected for bias (of the median) and acceleration (skewness)."""
    with needed_for("the interval 'bca'"):
        from scipy import special

    mean = math.fsum(difference) / len(difference)
    slack = TOLERANCE * float(np.abs(difference).max())
    below = (np.mean(resampled < mean - slack) + np.mean(resampled <= mean + slack)) / 2
    if not 0 < below < 1:
        raise StudyError(
            f"all {len(resampled):,} resampled means are on one side of the mean, too few for the interval 'bca'; use "
            "more samples, or 't' or 'percentile'"
        )
    bias = special.ndtri(below)
    centred = difference - mean
    acceleration = np.sum(centred**3) / (6 * np.sum(centred**2) ** 1.5)
    shifted = bias + special.ndtri(tails)
    corrected: FloatArray = special.ndtr(bias + shifted / (1 - acceleration * shifted))
    return corrected
