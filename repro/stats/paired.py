"""Paired tests of two systems on the same users.

All tests are two-sided. A tie is a user for whom both systems have the same value (see :mod:`repro.stats.equality`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import DataError, StudyError, nearest
from repro.extras import needed_for
from repro.stats.effects import mean, pair
from repro.stats.equality import TOLERANCE, differences
from repro.stats.friedman import conover, nemenyi, user_ranks
from repro.stats.resampling import SAMPLES, Users, randomisation_test, resampled_means

ZEROS: dict[str, str] = {
    "wilcox": "dropped before ranking (Wilcoxon 1945)",
    "pratt": "ranked, then their ranks dropped (Pratt 1959)",
    "zsplit": "ranked, and their ranks split between both sides",
}

_EXACT_WILCOXON = 50  # the largest number of pairs for the exact distribution without tied ranks
_EXACT_TIED = 13  # the largest number of pairs for an enumeration of all signs with tied ranks


@dataclass(frozen=True)
class Outcome:
    """The result of a test of two systems.

    statistic  the test statistic
    p          the two-sided p-value
    users      the number of pairs of values
    ties       the number of pairs with equal values
    dropped    the number of pairs that the test drops
    direction  1: a is higher by the test statistic, -1: b is higher, 0: neither
    how        the method of computing p: "exact", "normal approximation", "100,000 samples"
    """

    statistic: float
    p: float
    users: int
    ties: int
    dropped: int
    direction: int
    how: str


@dataclass(frozen=True, eq=False)
class Table:
    """Values of systems on the same users (systems x users), and the options of tests."""

    values: FloatArray
    users: Users | None = None
    samples: int = SAMPLES
    seed: int = 0
    zeros: str = "wilcox"


Outcomes = Callable[[int, int], Outcome]


@dataclass(frozen=True)
class PairedTest:
    """A test by name. ``outcomes(table)`` returns a function of the indices of two systems in the table.

    joint        p of a pair depends on the other systems in the table
    family_wise  p is already corrected for all pairs of the table
    """

    name: str
    title: str
    meaning: str
    cite: str
    outcomes: Callable[[Table], Outcomes]
    joint: bool = False
    family_wise: bool = False


def paired_test(
    name: str,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    users: Users | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
    zeros: str = "wilcox",
) -> Outcome:
    """The test ``name`` of two systems' values for the same users.

    users    user ids; random draws depend on them, so that the order of users does not matter
    samples  the number of samples of the randomisation test and of the bootstrap test
    zeros    how the Wilcoxon test treats ties: "wilcox", "pratt" or "zsplit"
    """
    return outcomes_of(name, Table(np.stack(pair(a, b)), users, samples, seed, zeros))(0, 1)


def outcomes_of(name: str, table: Table) -> Outcomes:
    """The outcome of the test ``name`` for any two systems of the table."""
    if not np.isfinite(table.values).all():
        raise DataError("a paired test needs a value of both systems for each user; one is not a number")
    if table.zeros not in ZEROS:
        raise StudyError(f"zeros = '{table.zeros}' is unknown{nearest(table.zeros, ZEROS)} Allowed: {', '.join(ZEROS)}")
    chosen = named_test(name)
    if table.values.shape[1] < 2:
        return lambda i, j: Outcome(math.nan, math.nan, table.values.shape[1], 0, 0, 0, "fewer than two users")
    return chosen.outcomes(table)


def named_test(name: str) -> PairedTest:
    """The test ``name``; raises an error for unknown names."""
    if name not in TESTS:
        raise StudyError(f"there is no test '{name}'{nearest(name, TESTS)} Tests: {', '.join(TESTS)}")
    return TESTS[name]


def _for_each_pair(test: Callable[[FloatArray, FloatArray, str], Outcome]) -> Callable[[Table], Outcomes]:
    """Outcomes of a test of the values of two systems alone; its third argument is how ties are treated."""
    return lambda table: lambda i, j: test(table.values[i], table.values[j], table.zeros)


def _sign(a: FloatArray, b: FloatArray, zeros: str) -> Outcome:
    with needed_for("the sign test"):
        from scipy import stats

    difference = differences(a, b)
    higher, lower = int((difference > 0).sum()), int((difference < 0).sum())
    ties = len(difference) - higher - lower
    p = float(stats.binomtest(higher, higher + lower).pvalue) if higher + lower else 1.0
    return Outcome(higher, p, len(difference), ties, ties, _direction(higher - lower), "exact")


def _wilcoxon(a: FloatArray, b: FloatArray, zeros: str) -> Outcome:
    with needed_for("the Wilcoxon test"):
        from scipy import stats

    difference = differences(a, b)
    nonzero = difference[difference != 0]
    ties = len(difference) - len(nonzero)
    if not len(nonzero):
        return Outcome(0.0, 1.0, len(difference), ties, ties, 0, "only ties")
    ranked = nonzero if zeros == "wilcox" else difference
    signed = (np.sign(ranked) * stats.rankdata(np.abs(ranked)))[ranked != 0]
    untied = len(ranked) == len(nonzero) == len(set(np.abs(signed)))
    exact = len(ranked) <= (_EXACT_WILCOXON if untied else _EXACT_TIED)
    result = stats.wilcoxon(ranked, zero_method=zeros, method="exact" if exact and untied else "approx")
    p = _over_all_signs(signed) if exact and not untied else float(result.pvalue)
    dropped = ties if zeros == "wilcox" else 0
    how = "exact" if exact else "normal approximation"
    return Outcome(float(result.statistic), p, len(difference), ties, dropped, _direction(float(np.sum(signed))), how)


def _over_all_signs(signed: FloatArray) -> float:
    """The share of all assignments of signs to the ranks whose sum is at least as far from 0 as the observed one."""
    doubled = np.rint(2 * np.abs(signed)).astype(np.int64)  # mean ranks of ties may be halves
    ways = np.ones(1, dtype=np.int64)  # the number of assignments by the sum of positive ranks
    for rank in doubled.tolist():
        ways = np.append(ways, np.zeros(rank, np.int64)) + np.append(np.zeros(rank, np.int64), ways)
    sums = np.abs(2 * np.arange(len(ways)) - doubled.sum())
    observed = abs(round(2 * float(np.sum(signed))))
    return int(ways[sums >= observed].sum()) / int(ways.sum())


def _student(a: FloatArray, b: FloatArray, zeros: str) -> Outcome:
    with needed_for("Student's t test"):
        from scipy import stats

    difference = differences(a, b)
    n, ties = len(difference), int((difference == 0).sum())
    if np.ptp(difference) == 0:  # the spread is 0
        statistic = float(np.sign(difference[0])) * math.inf if difference[0] else 0.0
        return Outcome(statistic, 0.0 if difference[0] else 1.0, n, ties, 0, _direction(statistic), "no spread")
    result = stats.ttest_rel(a, b)
    how = f"t with {n - 1:,} degrees of freedom"
    return Outcome(float(result.statistic), float(result.pvalue), n, ties, 0, _direction(result.statistic), how)


def _randomisation(table: Table) -> Outcomes:
    result = randomisation_test(table.values, table.samples, table.seed, users=table.users)
    how = f"exact, {result.samples:,} ways" if result.exact else f"{result.samples:,} samples"
    return _of_averages(table, _means(table), result.p, how)


def _bootstrap(table: Table) -> Outcomes:
    """Resampled means, shifted to the null hypothesis: p is the share with at least the observed difference."""
    resampled = resampled_means(table.values, table.samples, table.seed, users=table.users)
    means = _means(table)
    slack = TOLERANCE * np.array([mean(np.abs(row)) for row in table.values])
    resampled -= means
    p = np.ones((len(means), len(means)))
    for i in range(len(means)):
        for j in range(i):
            reached = np.abs(resampled[:, i] - resampled[:, j]) >= abs(means[i] - means[j]) - slack[i] - slack[j]
            p[i, j] = p[j, i] = (int(reached.sum()) + 1) / (table.samples + 1)
    return _of_averages(table, means, p, f"{table.samples:,} samples")


def _of_ranks(p_values: Callable[[FloatArray], FloatArray]) -> Callable[[Table], Outcomes]:
    """Outcomes of a post-hoc test of average ranks, the highest value last."""

    def outcomes(table: Table) -> Outcomes:
        average_ranks = user_ranks(table.values, "lower").mean(axis=1)
        return _of_averages(table, average_ranks, p_values(table.values), f"ranks of {len(average_ranks)} systems")

    return outcomes


def _of_averages(table: Table, averages: FloatArray, p: FloatArray, how: str) -> Outcomes:
    """Outcomes of a test whose statistic is the difference in an average (of values or of ranks); p is of all pairs."""

    def outcome(i: int, j: int) -> Outcome:
        ties = int((differences(table.values[i], table.values[j]) == 0).sum())
        statistic = float(averages[i] - averages[j])
        return Outcome(statistic, float(p[i, j]), table.values.shape[1], ties, 0, _direction(statistic), how)

    return outcome


def _means(table: Table) -> FloatArray:
    return np.array([mean(row) for row in table.values])


def _direction(statistic: float) -> int:
    return int(np.sign(statistic))


TESTS = {
    test.name: test
    for test in (
        PairedTest(
            "randomisation",
            "Fisher's randomisation test",
            "how often exchanging the two systems' values at random gives a difference in means this large",
            "Fisher 1935; Smucker, Allan & Carterette 2007",
            _randomisation,
        ),
        PairedTest(
            "wilcoxon",
            "Wilcoxon signed-rank test",
            "whether the differences lie evenly around 0, by the ranks of their sizes",
            "Wilcoxon 1945",
            _for_each_pair(_wilcoxon),
        ),
        PairedTest(
            "t",
            "Student's paired t test",
            "whether the mean of the differences is 0, if it is normally distributed",
            "Student 1908",
            _for_each_pair(_student),
        ),
        PairedTest(
            "sign",
            "sign test",
            "whether each system is the higher one for as many users as the other, by the exact binomial",
            "Gunawardana & Shani 2009, section 4.3; Demšar 2006",
            _for_each_pair(_sign),
        ),
        PairedTest(
            "bootstrap",
            "bootstrap test (shift method)",
            "how often users drawn with replacement, shifted to no difference, give a difference in means this large",
            "Efron & Tibshirani 1993; Smucker, Allan & Carterette 2007",
            _bootstrap,
        ),
        PairedTest(
            "nemenyi",
            "Nemenyi's post-hoc test",
            "whether average ranks differ by more than the critical difference; allows for all pairs",
            "Nemenyi 1963; Demšar 2006",
            _of_ranks(nemenyi),
            joint=True,
            family_wise=True,
        ),
        PairedTest(
            "conover",
            "Conover's post-hoc test",
            "whether rank sums differ, by Student's t",
            "Conover 1999",
            _of_ranks(conover),
            joint=True,
        ),
    )
}
