"""Rank correlation: whether two measurements order the same systems in the same way."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from repro.errors import DataError


def kendall(a: npt.ArrayLike, b: npt.ArrayLike, variant: Literal["b", "c"] = "b") -> float:
    """Kendall's tau between two lists of the systems' values: 1 the same order, -1 the reverse.

    tau-b = (C - D) / sqrt((C + D + tied in a only) (C + D + tied in b only)), with C and D the pairs of systems that
    are in the same and in opposite order; without ties it is the tau of Kendall (1938). NaN if all systems are tied
    in one of the two, or if there are fewer than two systems.
    """
    from scipy import stats

    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise DataError(f"Kendall's tau takes two values of each system; got {first.size:,} and {second.size:,}")
    if np.isnan(first).any() or np.isnan(second).any():
        raise DataError("Kendall's tau needs a number for each system, and one of them is not a number")
    if len(first) < 2:
        return math.nan
    return float(stats.kendalltau(first, second, variant=variant).statistic)
