"""The prediction interval over seeds, against the textbook's numbers."""

import math

import pytest

from repro.replications.claims.printed import Tolerance, read_printed


def test_the_interval_of_five_runs():
    # m = 3, s = sqrt(2.5); t(0.975, 4) = 2.776445; times sqrt(1 + 1/5)
    reach = Tolerance("seeds").reach([1.0, 2.0, 3.0, 4.0, 5.0])
    assert reach == pytest.approx(2.776445 * math.sqrt(2.5) * math.sqrt(1.2), rel=1e-6)


def test_a_printed_number_within_it_is_tolerated():
    values = [0.1293, 0.1253, 0.1281]
    tolerance = Tolerance("seeds")
    assert tolerance.holds(read_printed("0.128064"), values)
    assert not tolerance.holds(read_printed("0.150"), values)


def test_one_run_has_no_spread_and_equal_runs_none_either():
    assert Tolerance("seeds").reach([0.5]) == 0.0
    assert not Tolerance("seeds").holds(read_printed("0.6"), [0.5])
    assert Tolerance("seeds").reach([0.5, 0.5, 0.5]) == 0.0


def test_the_authors_own_interval():
    tolerance = Tolerance("interval", width=0.01)
    assert tolerance.holds(read_printed("0.50"), [0.5140]) and not tolerance.holds(read_printed("0.50"), [0.5151])


def test_rounding_tolerates_nothing_more():
    assert not Tolerance().holds(read_printed("0.5"), [0.5])
