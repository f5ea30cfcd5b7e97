"""To how many decimals values agree, and which of them do."""

import pytest

from repro.stats.equality import agreeing, common_decimals


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([0.12341, 0.12344], 4),  # 0.00003 apart: at most half of 0.0001, more than half of 0.00001
        ([0.1, 0.15], 1),  # exactly half of 0.1
        ([0.1, 0.1501], 0),
        ([0.0, 0.6], -1),  # at most half of 10
        ([0.1 + 0.2, 0.3], None),  # a rounding error
        ([0.25, 0.25, 0.25], None),
        ([7.0], None),
    ],
)
def test_values_agree_up_to_half_a_unit_of_the_last_decimal(values, decimals):
    assert common_decimals(values) == decimals
    assert common_decimals(values[::-1]) == decimals


def test_names_with_the_same_value_are_a_set_and_the_largest_set_is_first():
    values = {"a": 0.5, "b": 0.1, "c": 0.50004, "d": 0.50009, "e": 0.1, "f": 0.10001}
    # From 0.5 upwards: 0.50004 is within 0.00005 of it, and 0.50009 is not.
    assert agreeing(values, 4) == [("b", "e", "f"), ("a", "c"), ("d",)]
