"""Orders of systems and what a metric tells apart."""

import math

import numpy as np
import pytest
from scipy import stats

from repro.errors import DataError
from repro.stats import discriminative_power, kendall, p_value_curve


def test_kendall_by_hand():
    """Of six pairs of systems, one is in opposite order: (5 - 1) / 6."""
    assert kendall([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(4 / 6, abs=1e-15)
    assert kendall([1, 2, 3], [6, 5, 4]) == -1
    # One pair tied in a: (2 - 0) / sqrt(2 * 3).
    assert kendall([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / math.sqrt(6), abs=1e-15)


def test_kendall_is_scipys_tau_b():
    a, b = np.random.default_rng(0).integers(0, 6, (2, 21))
    assert kendall(a, b) == pytest.approx(stats.kendalltau(a, b).statistic, abs=1e-12)


def test_no_order_to_agree_with():
    assert math.isnan(kendall([1, 1, 1], [1, 2, 3]))
    assert math.isnan(kendall([1], [1]))
    with pytest.raises(DataError, match="2 and 3"):
        kendall([1, 2], [1, 2, 3])
    with pytest.raises(DataError, match="not a number"):
        kendall([1, math.nan], [1, 2])


def test_the_curve_and_its_sum():
    p = np.array([[1, 0.2, 0.01], [0.2, 1, 0.5], [0.01, 0.5, 1]])
    assert p_value_curve(p).tolist() == [0.5, 0.2, 0.01]
    assert discriminative_power(p) == pytest.approx(0.71, abs=1e-15)
    with pytest.raises(DataError, match="symmetric"):
        p_value_curve([[1, 0.2], [0.3, 1]])
