"""Discriminative power of a metric: the p-values of all pairs of systems, as a curve and as a single number.

Of two metrics on the same systems and data, the one with the lower p-values distinguishes more systems
(Sakai 2006; Valcarce et al. 2018).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import DataError


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
