"""Properties of metrics: rank correlation between two orders of systems, and discriminative power.

The discriminative power of a metric is the curve, or the sum, of the p-values of all pairs of systems. Of two metrics
on the same systems and data, the one with the lower p-values distinguishes more systems (Sakai 2006; Valcarce et al.
2018).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import DataError
from repro.extras import needed_for


def kendall(a: npt.ArrayLike, b: npt.ArrayLike, variant: Literal["b", "c"] = "b") -> float:
    """Kendall's tau between two lists of the systems' values: 1 the same order, -1 the reverse.

    tau-b = (C - D) / sqrt((C + D + tied in a only) (C + D + tied in b only)), with C and D the pairs of systems that
    are in the same and in opposite order; without ties it is the tau of Kendall (1938). NaN if all systems are tied
    in one of the two, or if there are fewer than two systems.
    """
    with needed_for("Kendall's tau"):
        from scipy import stats

    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise DataError(f"Kendall's tau takes two values of each system; got {first.size:,} and {second.size:,}")
    if np.isnan(first).any() or np.isnan(second).any():
        raise DataError("Kendall's tau needs a number for each system, and one of them is not a number")
    if len(first) < 2:
        return math.nan
    return float(stats.kendalltau(first, second, variant=variant).statistic)


def p_value_curve(p: npt.ArrayLike) -> FloatArray:
    """The p-value of each pair of systems, in decreasing order; ``p`` is symmetric, systems x systems."""
    table = np.asarray(p, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.array_equal(table, table.T, equal_nan=True):
        raise DataError(f"p-values of pairs are a symmetric table, systems x systems; got the shape {table.shape}")
    return -np.sort(-table[np.triu_indices(len(table), k=1)])


def discriminative_power(p: npt.ArrayLike) -> float:
    """DP = the sum of the p-values of all pairs of systems: the lower, the more systems the metric distinguishes.

    It is about the area under the p-value curve, and compares metrics only on the same systems and data.
    """
    return math.fsum(p_value_curve(p))
