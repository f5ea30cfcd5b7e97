"""Fisher's randomisation test: exact where it can be, SciPy's numbers, and no number of who is visited when."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from repro.errors import DataError
from repro.stats import randomisation_test


def enumerated(a, b):
    """The share of all ways to give each difference a sign whose |sum| is at least the observed one."""
    difference = [x - y for x, y in zip(a, b, strict=True)]
    observed = abs(sum(difference))
    ways = [
        abs(sum(s * d for s, d in zip(signs, difference, strict=True))) for signs in product((1, -1), repeat=len(a))
    ]
    return sum(way >= observed - 1e-9 for way in ways) / len(ways)


def of_two(a, b, *args, **options):
    return randomisation_test(np.stack([a, b]), *args, **options)


def table(systems, users, seed=0):
    return np.random.default_rng(seed).beta(1, 3, (systems, users))


def test_three_users_by_hand():
    """Differences 1, 2, 3: of the eight sums ±1±2±3 only 6 and -6 reach 6."""
    result = of_two([1, 2, 3], [0, 0, 0])
    assert result.exact and result.samples == 8
    assert result.p.tolist() == [[1.0, 0.25], [0.25, 1.0]]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=9))
@settings(max_examples=40, deadline=None)
def test_exact_for_few_users_ties_by_rounding_included(pairs):
    a, b = np.array(pairs).T / 10
    assert of_two(a, b).p[0, 1] == pytest.approx(enumerated(a, b), abs=1e-15)


@pytest.mark.parametrize("users", [3, 8, 9, 12, 16])
def test_exact_as_scipy_has_it(users):
    a, b = table(2, users, seed=users)
    result = stats.permutation_test(
        (a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", n_resamples=np.inf,
        vectorized=True,
    )  # fmt: skip
    assert of_two(a, b).p[0, 1] == pytest.approx(result.pvalue, abs=1e-12)


def test_all_pairs_of_a_table_are_what_each_pair_is_alone():
    values, users = table(11, 75), [f"u{n}" for n in range(75)]
    together = randomisation_test(values, 2_000, users=users).p
    assert np.array_equal(together, together.T) and (np.diag(together) == 1).all()
    for i, j in ((0, 1), (3, 10), (9, 4)):
        alone = of_two(values[i], values[j], 2_000, users=users)
        assert not alone.exact
        assert alone.p[0, 1] == together[i, j]


def test_samples_agree_with_the_exact_test_within_four_standard_errors():
    values = table(5, 14)
    exact = randomisation_test(values, 2**14)
    drawn = randomisation_test(values, 2**14 - 1, seed=3, users=range(14))
    assert exact.exact and not drawn.exact
    error = np.sqrt(exact.p * (1 - exact.p) / drawn.samples)
    assert (np.abs(exact.p - drawn.p) <= 4 * error + 1 / drawn.samples).all()
    assert not np.array_equal(exact.p, drawn.p)


def test_the_observed_permutation_counts_by_default():
    """Nothing drawn reaches a difference that all of 100 users share."""
    a, b = np.ones(100), np.zeros(100)
    assert of_two(a, b, 999).p[0, 1] == 1 / 1000
    assert of_two(a, b, 999, add_one=False).p[0, 1] == 0


def test_neither_the_order_of_users_nor_threads_nor_padding_change_a_bit():
    values = table(4, 301)
    users = np.array([f"u{n}" for n in range(301)])
    order = np.random.default_rng(1).permutation(301)
    first = randomisation_test(values, 3_000, users=users, threads=1).p
    assert np.array_equal(first, randomisation_test(values[:, order], 3_000, users=users[order], threads=3).p)
    assert np.array_equal(randomisation_test(values, 3_000).p, randomisation_test(values[:, order], 3_000).p), (
        "without ids the order does not matter either"
    )
    assert not np.array_equal(first, randomisation_test(values, 3_000, seed=1, users=users).p)


def test_more_samples_contain_the_fewer():
    """The same draws come first: counts grow, and only by what the further samples add."""
    values, users = table(2, 40, seed=5), range(40)
    few = of_two(*values, 1_000, users=users, add_one=False).p[0, 1] * 1_000
    more = of_two(*values, 1_001, users=users, add_one=False).p[0, 1] * 1_001
    assert round(more) - round(few) in (0, 1)


def test_users_for_whom_both_are_the_same_change_nothing():
    a, b = table(2, 9, seed=2)
    more = np.full(3, 0.4)
    assert of_two(a, b).p[0, 1] == of_two([*a, *more], [*b, *more]).p[0, 1]


def test_the_same_system_twice_is_no_difference():
    values = table(1, 50)[0]
    assert of_two(values, values, 500).p[0, 1] == 1
    assert of_two(values, values * (1 + 1e-15), 500).p[0, 1] == 1, "rounding is no difference"


def test_a_system_of_huge_values_does_not_affect_the_others():
    values = np.vstack([table(2, 10, seed=4), np.full(10, 1e30)])
    assert randomisation_test(values).p[0, 1] == randomisation_test(values[:2]).p[0, 1]


def test_p_is_uniform_under_the_null_hypothesis():
    """400 pairs of systems that do not differ: the Kolmogorov distance from uniform is below 1.63 / sqrt(400),
    its 1% point."""
    draws = np.random.default_rng(7)
    result = [of_two(*draws.normal(size=(2, 30)), 1_000, seed=n, users=range(30)).p[0, 1] for n in range(400)]
    assert stats.kstest(result, "uniform").statistic < 1.63 / 20


def test_untestable_values_raise_errors():
    with pytest.raises(DataError, match="every value is a finite number"):
        randomisation_test([[1.0, np.nan], [1.0, 2.0]])
    with pytest.raises(DataError, match="occurs twice"):
        randomisation_test(table(2, 3), users=["a", "b", "a"])
    with pytest.raises(DataError, match="2 ids for 3 users"):
        randomisation_test(table(2, 3), users=["a", "b"])
    with pytest.raises(DataError, match="samples = 0"):
        randomisation_test(table(2, 3), 0)
