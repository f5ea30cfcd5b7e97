"""Effect sizes and intervals, by hand and against SciPy."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from repro.errors import DataError, StudyError
from repro.stats import (
    cohen_dz,
    difference_interval,
    mean_difference,
    rank_biserial,
    relative_difference,
    resampled_means,
    superiority,
)

A = [0.5, 0.3, 0.9, 0.2]
B = [0.4, 0.3, 0.6, 0.4]


def test_effects_by_hand():
    """Differences 0.1, 0, 0.3, -0.2: mean 0.05; squares around it sum to 0.13; ranks without the tie 1, 3, 2."""
    assert mean_difference(A, B) == pytest.approx(0.05, abs=1e-15)
    assert relative_difference(A, B) == pytest.approx(0.05 / 0.425, abs=1e-12)
    assert cohen_dz(A, B) == pytest.approx(0.05 / math.sqrt(0.13 / 3), abs=1e-11)
    assert rank_biserial(A, B) == pytest.approx((4 - 2) / 6, abs=1e-15)
    assert superiority(A, B) == pytest.approx(2.5 / 4, abs=1e-15)


def test_effects_at_the_edges():
    assert cohen_dz([1, 2], [0, 1]) == math.inf and cohen_dz([0, 1], [1, 2]) == -math.inf
    assert cohen_dz(A, A) == 0 and rank_biserial(A, A) == 0 and superiority(A, A) == 0.5
    assert math.isnan(relative_difference([1, 2], [0, 0]))
    assert rank_biserial([1, 2], [0, 0]) == 1 and rank_biserial([0, 0], [1, 2]) == -1


def pair(users=80):
    draws = np.random.default_rng(4)
    b = draws.beta(1, 4, users)
    return np.clip(b + draws.exponential(0.05, users) - 0.03, 0, 1), b


def test_the_t_interval_is_scipys():
    a, b = pair()
    expected = stats.ttest_rel(a, b).confidence_interval(0.9)
    assert difference_interval(a, b, 0.9) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_intervals_are_those_scipy_makes_of_the_same_resamples(method):
    a, b = pair()
    means = resampled_means([a, b], 4_000, seed=5)
    given = SimpleNamespace(bootstrap_distribution=means[:, 0] - means[:, 1])
    expected = stats.bootstrap(
        (a - b,), np.mean, n_resamples=0, method=method, confidence_level=0.95, bootstrap_result=given
    ).confidence_interval
    result = difference_interval(a, b, 0.95, method, samples=4_000, seed=5)
    assert result == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_resampled_means_have_the_mean_and_the_spread_they_should():
    """Within five standard errors: mean as observed, variance that of a mean, the two systems drawn together."""
    a, b = pair()
    means = resampled_means([a, b, a], 20_000)
    assert np.array_equal(means[:, 0], means[:, 2])
    error = np.std(a) / math.sqrt(len(a))
    assert means[:, 0].mean() == pytest.approx(a.mean(), abs=5 * error / math.sqrt(20_000))
    assert means[:, 0].std() == pytest.approx(error, rel=5 / math.sqrt(2 * 20_000))
    assert np.corrcoef(means[:, 0], means[:, 1])[0, 1] == pytest.approx(np.corrcoef(a, b)[0, 1], abs=0.05)


def test_resampling_does_not_hang_on_the_order_of_users_or_on_threads():
    a, b = pair()
    users = np.array([f"u{n}" for n in range(80)])
    order = np.random.default_rng(0).permutation(80)
    first = resampled_means([a, b], 700, users=users, threads=1)
    assert np.array_equal(first, resampled_means([a[order], b[order]], 700, users=users[order], threads=3))
    assert np.array_equal(resampled_means([a, b], 700), resampled_means([a[order], b[order]], 700))


@pytest.mark.parametrize(
    "of", [mean_difference, relative_difference, cohen_dz, rank_biserial, superiority, difference_interval]
)
def test_values_that_are_not_pairs_raise_errors(of):
    with pytest.raises(DataError, match="have 2 and 1 values"):
        of([0.1, 0.2], [0.1])
    with pytest.raises(DataError, match="not a number"):
        of([0.1, math.nan], [0.1, 0.2])


def test_numbers_too_small_for_a_grid_are_compared_as_they_are():
    assert superiority([5e-324, 0.0, 5e-324], [0.0, 5e-324, 5e-324]) == 0.5


def test_intervals_at_the_edges():
    with pytest.raises(StudyError, match="confidence = 95"):
        difference_interval(A, B, 95)
    with pytest.raises(StudyError, match="use more samples"):
        difference_interval(A, B, method="bca", samples=1)
    assert difference_interval([1, 2], [0, 1], method="bca") == (1, 1)
    assert all(map(math.isnan, difference_interval([1], [0])))
    with pytest.raises(StudyError, match="did you mean 'bca'"):
        difference_interval(A, B, method="bcca")
    with pytest.raises(DataError, match="every value is a finite number"):
        resampled_means([[1, math.nan]])
