"""Paired tests: do two systems differ on the same users? One registry, one kind of result.

All are two-sided. A tie is a user for whom both systems have the same value (see :mod:`repro.stats.equality`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import DataError, StudyError, nearest
from repro.stats.equality import TOLERANCE, differences
from repro.stats.friedman import conover, nemenyi, user_ranks
from repro.stats.randomisation import SAMPLES, randomisation_test
from repro.stats.resampling import resampled_means
from repro.stats.users import Users

Zeros = Literal["wilcox", "pratt", "zsplit"]
ZEROS: dict[str, str] = {
    "wilcox": "dropped before ranking (Wilcoxon 1945)",
    "pratt": "ranked, then their ranks dropped (Pratt 1959)",
    "zsplit": "ranked, and their ranks split between both sides",
}

_EXACT_WILCOXON = 50  # pairs up to which the exact distribution is used, where no two ranks are tied
_EXACT_TIED = 13  # pairs up to which all ways of signing them are tried, where some are


@dataclass(frozen=True)
class Outcome:
    """What a test says of two systems.

    statistic  the test's own
    p          two-sided
    users      how many pairs of values were given
    ties       for how many of them both systems have the same value
    dropped    how many of them the test left out
    direction  1: a is higher by the test's own statistic, -1: b is, 0: neither
    how        how p was had: "exact", "normal approximation", "100,000 samples"
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
    """Values of systems on the same users (systems x users), and how tests are to be carried out."""

    values: FloatArray
    users: Users | None = None
    samples: int = SAMPLES
    seed: int = 0
    zeros: str = "wilcox"


Outcomes = Callable[[int, int], Outcome]


@dataclass(frozen=True)
class PairedTest:
    """A test by name. ``outcomes(table)`` gives a function of the numbers of two systems in the table.

    joint        p of a pair depends on the other systems in the table
    family_wise  p allows for all pairs of the table already: it is not to be corrected again
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
    """The test called ``name`` of two systems' values for the same users.

    users    their ids, from which random draws are made, so that their order does not matter
    samples  of the randomisation test and of the bootstrap
    zeros    what the Wilcoxon test does with ties: "wilcox", "pratt" or "zsplit"
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise DataError(f"the two systems have {first.size:,} and {second.size:,} values; a paired test needs pairs")
    table = Table(np.stack([first, second]), users, samples, seed, zeros)
    return outcomes_of(name, table)(0, 1)


def outcomes_of(name: str, table: Table) -> Outcomes:
    """The outcome of the test called ``name`` for any two systems of the table."""
    if not np.isfinite(table.values).all():
        raise DataError("a paired test needs a value of both systems for each user; one is not a number")
    if table.zeros not in ZEROS:
        raise StudyError(f"zeros = '{table.zeros}' is unknown{nearest(table.zeros, ZEROS)} One of: {', '.join(ZEROS)}")
    chosen = named_test(name)
    if table.values.shape[1] < 2:
        return lambda i, j: Outcome(math.nan, math.nan, table.values.shape[1], 0, 0, 0, "fewer than two users")
    return chosen.outcomes(table)


def named_test(name: str) -> PairedTest:
    """The test called ``name``."""
    if name not in TESTS:
        raise StudyError(f"there is no test '{name}'{nearest(name, TESTS)} Tests: {', '.join(TESTS)}")
    return TESTS[name]


def _sign(table: Table) -> Outcomes:
    from scipy import stats

    def of(i: int, j: int) -> Outcome:
        difference = differences(table.values[i], table.values[j])
        higher, lower = int((difference > 0).sum()), int((difference < 0).sum())
        ties = len(difference) - higher - lower
        p = float(stats.binomtest(higher, higher + lower).pvalue) if higher + lower else 1.0
        return Outcome(higher, p, len(difference), ties, ties, _direction(higher - lower), "exact")

    return of


def _wilcoxon(table: Table) -> Outcomes:
    from scipy import stats

    def of(i: int, j: int) -> Outcome:
        difference = differences(table.values[i], table.values[j])
        moved = difference[difference != 0]
        ties = len(difference) - len(moved)
        if not len(moved):
            return Outcome(0.0, 1.0, len(difference), ties, ties, 0, "only ties")
        ranked = moved if table.zeros == "wilcox" else difference
        signed = (np.sign(ranked) * stats.rankdata(np.abs(ranked)))[ranked != 0]
        untied = len(ranked) == len(moved) == len(set(np.abs(signed)))
        exact = len(ranked) <= (_EXACT_WILCOXON if untied else _EXACT_TIED)
        found = stats.wilcoxon(ranked, zero_method=table.zeros, method="exact" if exact and untied else "approx")
        return Outcome(
            float(found.statistic),
            _over_all_signs(signed) if exact and not untied else float(found.pvalue),
            len(difference),
            ties,
            ties if table.zeros == "wilcox" else 0,
            _direction(float(np.sum(signed))),
            "exact" if exact else "normal approximation",
        )

    return of


def _over_all_signs(signed: FloatArray) -> float:
    """The share of all ways of signing the ranks, of which some are tied, that have a sum as far from 0 as this."""
    doubled = np.rint(2 * np.abs(signed)).astype(np.int64)  # the mean rank of ties may end in a half
    ways = np.ones(1, dtype=np.int64)  # with each sum of the ranks that have a plus
    for rank in doubled.tolist():
        without, with_it = np.append(ways, np.zeros(rank, np.int64)), np.append(np.zeros(rank, np.int64), ways)
        ways = without + with_it
    sums = np.abs(2 * np.arange(len(ways)) - doubled.sum())
    observed = abs(round(2 * float(np.sum(signed))))
    return int(ways[sums >= observed].sum()) / int(ways.sum())


def _student(table: Table) -> Outcomes:
    from scipy import stats

    def of(i: int, j: int) -> Outcome:
        a, b = table.values[i], table.values[j]
        difference = differences(a, b)
        n, ties = len(difference), int((difference == 0).sum())
        if np.ptp(difference) == 0:  # no spread to divide by
            statistic = float(np.sign(difference[0])) * math.inf if difference[0] else 0.0
            return Outcome(statistic, 0.0 if difference[0] else 1.0, n, ties, 0, _direction(statistic), "no spread")
        found = stats.ttest_rel(a, b)
        how = f"t with {n - 1:,} degrees of freedom"
        return Outcome(float(found.statistic), float(found.pvalue), n, ties, 0, _direction(found.statistic), how)

    return of


def _randomisation(table: Table) -> Outcomes:
    found = randomisation_test(table.values, table.samples, table.seed, users=table.users)
    how = f"exact, {found.samples:,} ways" if found.exact else f"{found.samples:,} samples"
    return _of_means(table, found.p, how)


def _bootstrap(table: Table) -> Outcomes:
    """Resampled means, shifted so that the null hypothesis holds: p is the share that is as far off as observed."""
    resampled = resampled_means(table.values, table.samples, table.seed, users=table.users)
    means = _means(table)
    slack = TOLERANCE * np.array([math.fsum(np.abs(row)) / len(row) for row in table.values])
    resampled -= means
    p = np.ones((len(means), len(means)))
    for i in range(len(means)):
        for j in range(i):
            reached = np.abs(resampled[:, i] - resampled[:, j]) >= abs(means[i] - means[j]) - slack[i] - slack[j]
            p[i, j] = p[j, i] = (int(reached.sum()) + 1) / (table.samples + 1)
    return _of_means(table, p, f"{table.samples:,} samples")


def _of_means(table: Table, p: FloatArray, how: str) -> Outcomes:
    """Outcomes of a test whose statistic is the difference in means."""
    means = _means(table)

    def of(i: int, j: int) -> Outcome:
        difference = differences(table.values[i], table.values[j])
        ties = int((difference == 0).sum())
        statistic = float(means[i] - means[j])
        return Outcome(statistic, float(p[i, j]), len(difference), ties, 0, _direction(statistic), how)

    return of


def _of_ranks(p_values: Callable[[FloatArray], FloatArray]) -> Callable[[Table], Outcomes]:
    """Outcomes of a post-hoc test whose statistic is the difference in average ranks, the highest value last."""

    def outcomes(table: Table) -> Outcomes:
        p = p_values(table.values)
        average = user_ranks(table.values, "lower").mean(axis=1)

        def of(i: int, j: int) -> Outcome:
            ties = int((differences(table.values[i], table.values[j]) == 0).sum())
            statistic = float(average[i] - average[j])
            how = f"ranks of {len(average)} systems"
            return Outcome(statistic, float(p[i, j]), table.values.shape[1], ties, 0, _direction(statistic), how)

        return of

    return outcomes


def _means(table: Table) -> FloatArray:
    return np.array([math.fsum(row) / len(row) for row in table.values])


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
            _wilcoxon,
        ),
        PairedTest(
            "t",
            "Student's paired t test",
            "whether the mean of the differences is 0, if it is normally distributed",
            "Student 1908",
            _student,
        ),
        PairedTest(
            "sign",
            "sign test",
            "whether each system is the higher one for as many users as the other, by the exact binomial",
            "Gunawardana & Shani 2009, section 4.4; Demšar 2006",
            _sign,
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
