"""Shares as whole numbers."""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.split.share import broken_shares, share_of, shares_of


@pytest.mark.parametrize(
    ("count", "share", "rounding", "expected"),
    [
        (5, 0.5, "round", 3),  # 2.5: halves up, not to the even number
        (3, 0.5, "round", 2),
        (7, 0.2, "round", 1),
        (8, 0.2, "round", 2),
        (100, 0.145, "round", 15),  # 14.5, though 100 * 0.145 is below it in floating point
        (10, 0.7, "floor", 7),  # 7, though 10 * 0.7 may come out on either side of it
        (100, 0.29, "floor", 29),
        (100, 0.07, "ceil", 7),
        (1, 0.01, "ceil", 1),
        (1, 0.99, "floor", 0),
        (9, 0.0, "ceil", 0),
        (9, 1.0, "floor", 9),
    ],
)
def test_shares_are_exact(count, share, rounding, expected):
    assert share_of(count, share, rounding) == expected
    assert shares_of(np.array([count, 0, count]), share, rounding).tolist() == [expected, 0, expected]


@given(
    counts=st.lists(st.integers(0, 10**6), min_size=1, max_size=20),
    thousandths=st.integers(0, 1000),
    rounding=st.sampled_from(["round", "floor", "ceil"]),
)
def test_shares_agree_with_decimal_arithmetic(counts, thousandths, rounding):
    mode = {"round": ROUND_HALF_UP, "floor": ROUND_FLOOR, "ceil": ROUND_CEILING}[rounding]
    expected = [int((Decimal(thousandths) / 1000 * count).quantize(Decimal(1), rounding=mode)) for count in counts]
    assert shares_of(np.array(counts), thousandths / 1000, rounding).tolist() == expected


def test_broken_shares_are_those_that_rounding_decides():
    assert broken_shares(np.array([5, 10, 11, 4, 0]), 0.2) == 2
