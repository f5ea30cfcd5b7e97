"""Exact sums against :func:`math.fsum`, which is exact too."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.evaluation.metrics.shared.exact import exact_sum

FLOATS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(st.lists(FLOATS))
def test_the_sum_is_that_of_fsum(values):
    assert exact_sum(np.array(values, dtype=np.float64)) == math.fsum(values)


@given(st.lists(st.sampled_from([1e16, -1e16, 1.0, 1e-16, 5e-324, -5e-324, 0.1, 1 / 3, 2.0**1000]), max_size=40))
def test_also_where_terms_cancel(values):
    assert exact_sum(np.array(values, dtype=np.float64)) == math.fsum(values)


def test_many_terms():
    values = np.random.default_rng(1).random(100_000)
    assert exact_sum(values) == math.fsum(values)


def test_terms_that_are_not_finite():
    assert math.isnan(exact_sum(np.array([1.0, math.nan])))
    assert exact_sum(np.array([1.0, math.inf])) == math.inf


def test_a_part_of_an_array():
    assert exact_sum(np.arange(10.0)[::3]) == pytest.approx(18.0, abs=0)
