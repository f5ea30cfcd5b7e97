"""Paired tests against SciPy and against numbers worked out by hand."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from repro.errors import DataError, StudyError
from repro.stats import TESTS, paired_test

A = [0.5, 0.3, 0.9, 0.2, 0.7, 0.6, 0.4]
B = [0.4, 0.3, 0.6, 0.4, 0.2, 0.2, 0.1]


def pair(users, seed=0):
    draws = np.random.default_rng(seed)
    a = draws.beta(2, 3, users)
    return a, np.clip(a + draws.normal(0.02, 0.1, users), 0, 1)


def test_sign_by_hand():
    """Five users up, one down, one tied: p = 2 (C(6,5) + C(6,6)) / 2^6 = 14/64."""
    result = paired_test("sign", A, B)
    assert (result.statistic, result.users, result.ties, result.dropped, result.direction) == (5, 7, 1, 1, 1)
    assert result.p == pytest.approx(14 / 64, abs=1e-15)


def test_sign_of_a_tie_is_not_decided_by_rounding():
    result = paired_test("sign", [0.1 + 0.2, 1.0], [0.3, 0.5])
    assert result.ties == 1 and result.statistic == 1


def test_wilcoxon_by_hand():
    """|differences| 0.1 0.3 0.2 0.5 0.4 0.3 have ranks 1 3.5 2 6 5 3.5; only 0.2 is negative: W- = 2."""
    result = paired_test("wilcoxon", A, B)
    assert (result.statistic, result.users, result.ties, result.dropped) == (2, 7, 1, 1)
    # W- of at most 2 is that of no minus, of the 0.1 alone, or of the 0.2 alone: 3 of 64 ways, and as many above.
    assert result.how == "exact" and result.p == 6 / 64


def test_wilcoxon_of_many_tied_users_by_hand():
    """Fourteen differences of 1, four of them negative: all have rank 7.5, so W- = 30, about 52.5."""
    result = paired_test("wilcoxon", [1] * 10 + [0] * 4, [0] * 10 + [1] * 4)
    assert (result.statistic, result.how) == (30, "normal approximation")
    variance = (14 * 15 * 29 - (14**3 - 14) / 2) / 24
    assert result.p == pytest.approx(2 * stats.norm.cdf((30 - 52.5) / math.sqrt(variance)), abs=1e-12)


@pytest.mark.parametrize("zeros", ["wilcox", "pratt", "zsplit"])
@pytest.mark.parametrize("users", [2, 4, 9])
def test_wilcoxon_of_few_tied_users_is_exact_over_all_signs(zeros, users):
    draws = np.random.default_rng(users)
    a, b = draws.integers(0, 4, (2, users)) / 3
    a[:2] = b[:2] + 1 / 3  # a pair of tied ranks at least
    result = paired_test("wilcoxon", a, b, zeros=zeros)
    difference = np.round(3 * (a - b))
    ranked = difference[difference != 0] if zeros == "wilcox" else difference
    ranks = stats.rankdata(np.abs(ranked))[ranked != 0]
    observed = abs(np.sum(np.sign(ranked[ranked != 0]) * ranks))
    sums = [abs(np.dot(signs, ranks)) for signs in itertools.product([1, -1], repeat=len(ranks))]
    assert result.how == "exact"
    assert result.p == np.mean(np.array(sums) >= observed)
    assert result.p == pytest.approx(stats.wilcoxon(difference, zero_method=zeros).pvalue, abs=1e-12)


def test_wilcoxon_is_exact_for_few_users_without_ties():
    """Differences 1 to 5, all positive: W- = 0 in one of 32 ways, two-sided 2/32."""
    result = paired_test("wilcoxon", [1, 2, 3, 4, 5, 7], [0, 0, 0, 0, 0, 7])
    assert result.how == "exact"
    assert result.p == 2 / 32


@pytest.mark.parametrize("zeros", ["wilcox", "pratt", "zsplit"])
def test_wilcoxon_as_scipy_has_it(zeros):
    a, b = np.round(pair(400), 1)
    result = paired_test("wilcoxon", a, b, zeros=zeros)
    expected = stats.wilcoxon(np.round(a - b, 1), zero_method=zeros, method="approx")
    assert result.p == pytest.approx(expected.pvalue, abs=1e-12)
    assert result.statistic == expected.statistic
    assert result.ties == (a == b).sum()
    assert result.dropped == (result.ties if zeros == "wilcox" else 0)


def test_t_as_scipy_has_it_and_by_hand():
    a, b = pair(200)
    expected = stats.ttest_rel(a, b)
    result = paired_test("t", a, b)
    assert (result.statistic, result.p) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)
    # Differences 1, 2, 3: mean 2, standard error 1 / sqrt(3); with 2 degrees of freedom p has a closed form.
    by_hand = paired_test("t", [1, 2, 3], [0, 0, 0])
    t = 2 * math.sqrt(3)
    assert by_hand.statistic == pytest.approx(t, abs=1e-12)
    assert by_hand.p == pytest.approx(1 - t / math.sqrt(t * t + 2), abs=1e-12)


def test_t_without_spread():
    assert paired_test("t", [2, 3, 4], [1, 2, 3]).p == 0
    assert paired_test("t", [2, 3, 4], [2, 3, 4]).p == 1


def test_bootstrap_agrees_with_the_normal_distribution_for_many_users():
    """The shifted mean of 2,000 users is normal to a few per cent: p is that of z within four standard errors."""
    a, b = pair(2_000, seed=3)
    b = a + (b - a) - np.mean(b - a) + 1.5 * np.std(b - a) / math.sqrt(2_000)
    expected = 2 * stats.norm.sf(1.5)
    result = paired_test("bootstrap", a, b, samples=20_000)
    assert result.p == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 20_000))
    assert result.direction == -1


def test_bootstrap_of_two_users_by_hand():
    """Differences 0 and 2, shifted -1 and 1: means -1, 0, 0, 1 are equally likely, and half of them reach 1."""
    assert paired_test("bootstrap", [0, 2], [0, 0], samples=40_000).p == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("name", TESTS)
def test_laws_of_every_test(name):
    a, b = pair(60)
    users = np.array([f"u{n}" for n in range(60)])
    order = np.random.default_rng(2).permutation(60)
    options = {"samples": 2_000, "users": users}
    result = paired_test(name, a, b, **options)
    assert 0 < result.p <= 1 and result.users == 60
    turned = paired_test(name, b, a, **options)
    assert turned.p == pytest.approx(result.p, abs=1e-12) and turned.direction == -result.direction
    shuffled = paired_test(name, a[order], b[order], samples=2_000, users=users[order])
    assert shuffled.p == pytest.approx(result.p, abs=1e-14), "the order of the users does not matter"
    assert paired_test(name, a, a, **options).p == 1
    assert paired_test(name, a + 1, a, **options).p < 0.01
    assert math.isnan(paired_test(name, [1.0], [0.0]).p), "one user says nothing"


def test_every_test_is_documented():
    for test in TESTS.values():
        assert test.title and test.meaning and test.cite


def test_unknown_tests_and_options_raise_errors():
    with pytest.raises(StudyError, match="did you mean 'wilcoxon'"):
        paired_test("wilcoxn", A, B)
    with pytest.raises(StudyError, match="zeros = 'prat' is unknown; did you mean 'pratt'"):
        paired_test("wilcoxon", A, B, zeros="prat")
    with pytest.raises(DataError, match="7 and 2 values"):
        paired_test("t", A, [1, 2])
    with pytest.raises(DataError, match="not a number"):
        paired_test("t", [1, math.nan], [1, 2])
