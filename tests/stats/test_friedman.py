"""Friedman and its post-hoc tests: the worked example of Demšar (2006), SciPy, statsmodels."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.libqsturng import psturng

from repro.errors import DataError
from repro.stats import conover, friedman, nemenyi

# Demšar (2006), table 6: AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on fourteen data sets.
# Two values printed as 0.975 have different ranks there, which the last digit of 0.9751 brings back.
DEMSAR = np.array(
    [
        [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957],
        [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978],
        [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.000, 0.965, 0.614, 0.9751, 0.946],
        [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.000, 0.962, 0.669, 0.975, 0.970],
    ]
)


def test_the_worked_example():
    """Printed there: average ranks 3.143, 2.000, 2.893, 1.964, chi-squared 9.28 (not corrected for ties) and
    critical differences of 1.25 at 0.05 and 1.12 at 0.10."""
    result = friedman(DEMSAR)
    assert result.average_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=0.0005)
    uncorrected = 12 * 14 / (4 * 5) * (np.sum(result.average_ranks**2) - 4 * 5**2 / 4)
    assert uncorrected == pytest.approx(9.28, abs=0.005)
    assert result.critical_difference(0.05) == pytest.approx(1.25, abs=0.005)
    assert result.critical_difference(0.10) == pytest.approx(1.12, abs=0.005)
    # The printed conclusion: the Nemenyi test shows no pair apart at 0.05, and C4.5 and C4.5+m+cf apart at 0.10.
    p = nemenyi(DEMSAR)
    assert p[np.triu_indices(4, 1)].min() > 0.05
    assert p[0, 3] < 0.10


def test_friedman_as_scipy_has_it():
    values = np.random.default_rng(0).normal(size=(5, 40))
    result = friedman(values)
    expected = stats.friedmanchisquare(*values)
    assert (result.statistic, result.p) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)
    f = 39 * expected.statistic / (40 * 4 - expected.statistic)
    assert result.f_statistic == pytest.approx(f, abs=1e-12)
    assert result.f_p == pytest.approx(stats.f.sf(f, 4, 4 * 39), abs=1e-12)


def test_lower_may_be_better():
    values = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0], [3.0, 4.0, 5.0]])
    assert friedman(values, "lower").average_ranks.tolist() == [1, 2, 3]
    assert friedman(values).average_ranks.tolist() == [3, 2, 1]


def test_only_ties_are_no_difference():
    values = np.ones((3, 5))
    assert friedman(values).p == 1
    assert (nemenyi(values) == 1).all() and (conover(values) == 1).all()


def test_nemenyi_by_the_studentised_range():
    values = np.random.default_rng(1).normal(size=(4, 30)) + np.arange(4)[:, None] / 4
    ranks = stats.rankdata(-values, axis=0).mean(axis=1)
    p = nemenyi(values)
    for i, j in ((0, 1), (0, 3), (2, 3)):
        q = abs(ranks[i] - ranks[j]) * np.sqrt(2) / np.sqrt(4 * 5 / (6 * 30))
        assert p[i, j] == p[j, i] == pytest.approx(float(np.squeeze(psturng(q, 4, np.inf))), abs=0.003)


def test_two_systems_at_the_critical_difference_have_the_p_of_the_level():
    result = friedman(DEMSAR)
    q = result.critical_difference(0.05) / np.sqrt(4 * 5 / (6 * 14)) * np.sqrt(2)
    assert stats.studentized_range.sf(q, 4, np.inf) == pytest.approx(0.05, abs=1e-9)


def test_conover_by_hand():
    """Ranks of three users (1,2,3), (1,2,3), (2,1,3): sums 4, 5, 9; A = 42; 2*3*(42 - 122/3)/4 = 2."""
    values = -np.array([[1, 1, 2], [2, 2, 1], [3, 3, 3]], dtype=float)
    p = conover(values)
    for (i, j), difference in {(0, 1): 1, (0, 2): 5, (1, 2): 4}.items():
        assert p[i, j] == p[j, i] == pytest.approx(2 * stats.t.sf(difference / np.sqrt(2), 4), abs=1e-12)


def test_users_that_all_agree_have_the_chance_of_that():
    """With three systems the second user agrees with the first in one of six orders, and so does the third."""
    two = [[3, 3], [2, 2], [1, 1]]
    assert friedman(two).f_statistic == np.inf
    assert friedman(two).f_p == pytest.approx(1 / 6, abs=1e-15)
    assert conover(two)[0, 1] == pytest.approx(1 / 6, abs=1e-15)
    assert conover([[3] * 3, [2] * 3, [1] * 3])[0, 2] == pytest.approx(1 / 36, abs=1e-15)


def test_two_systems_are_for_a_paired_test():
    with pytest.raises(DataError, match="three systems or more"):
        friedman([[1, 2], [2, 1]])
