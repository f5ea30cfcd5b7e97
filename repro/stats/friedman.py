"""Friedman's rank test of several systems, and its post-hoc tests of pairs.

Each user ranks the systems: the best has rank 1, and tied systems have the mean of their ranks. Friedman's test asks
whether the average ranks differ more than by chance; a post-hoc test then asks which pairs differ (Demšar 2006).

scikit-posthocs has the post-hoc tests too. They are written here, in a few lines over SciPy, because that package
brings Matplotlib and seaborn along, and its Conover's test divides by zero if all users have the same ranks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import DataError
from repro.extras import needed_for
from repro.stats.equality import gridded


@dataclass(frozen=True, eq=False)
class Friedman:
    """Friedman's test of systems on the same users.

    statistic      chi-squared with (systems - 1) degrees of freedom, corrected for ties
    p              its p-value; 1 if all systems are tied for all users
    f_statistic    the less conservative F of Iman & Davenport (1980); infinite if all users have the same ranks
    f_p            its p-value; in that case the probability that all other users have the ranks of the first
    average_ranks  the average rank of each system, 1 the best
    users          the number of users
    """

    statistic: float
    p: float
    f_statistic: float
    f_p: float
    average_ranks: FloatArray
    users: int

    def critical_difference(self, level: float = 0.05) -> float:
        """The critical difference of average ranks by Nemenyi's test."""
        with needed_for("the critical difference"):
            from scipy import stats

        k = len(self.average_ranks)
        return (
            float(stats.studentized_range.ppf(1 - level, k, math.inf)) / math.sqrt(2) * _rank_deviation(k, self.users)
        )


def friedman(values: npt.ArrayLike, better: str = "higher") -> Friedman:
    """Friedman's test; ``values`` is systems x users, and ``better`` states which values get the first ranks."""
    with needed_for("Friedman's test"):
        from scipy import stats

    ranks = user_ranks(values, better)
    k, n = ranks.shape
    if k < 3:
        raise DataError(f"Friedman's test compares three systems or more, not {k}; a paired test compares two")
    average = ranks.mean(axis=1)
    if np.ptp(ranks) == 0:
        return Friedman(0.0, 1.0, 0.0, 1.0, average, n)
    statistic, p = (float(value) for value in stats.friedmanchisquare(*ranks))
    denominator = n * (k - 1) - statistic
    f_statistic = (n - 1) * statistic / denominator if denominator > 0 else math.inf
    f_p = float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n - 1))) if denominator > 0 else _chance_of_agreement(k, n)
    return Friedman(statistic, p, f_statistic, f_p, average, n)


def nemenyi(values: npt.ArrayLike, better: str = "higher") -> FloatArray:
    """p-values of all pairs, by the studentised range of the average ranks, already corrected for all pairs.

    (Nemenyi 1963; Demšar 2006.) systems x systems, symmetric, 1 on the diagonal.
    """
    with needed_for("Nemenyi's test"):
        from scipy import stats

    ranks = user_ranks(values, better)
    k, n = ranks.shape
    average = ranks.mean(axis=1)
    spans = np.abs(average[:, None] - average) / _rank_deviation(k, n) * math.sqrt(2)
    upper = np.triu_indices(k, 1)
    p = np.ones((k, k))
    p[upper] = stats.studentized_range.sf(spans[upper], k, math.inf)
    p.T[upper] = p[upper]
    return p


def conover(values: npt.ArrayLike, better: str = "higher") -> FloatArray:
    """p-values of all pairs, by Student's t of the rank sums, not corrected for the number of pairs.

    t = |R_i - R_j| / sqrt(2 n (A - sum(R^2) / n) / ((n - 1) (k - 1))), R the rank sums, A the sum of the squared
    ranks (Conover 1999, section 5.8). More powerful than Nemenyi's. systems x systems, symmetric, 1 on the diagonal.
    If all users have the same ranks, the spread is 0, and p is the probability of that.
    """
    with needed_for("Conover's test"):
        from scipy import stats

    ranks = user_ranks(values, better)
    k, n = ranks.shape
    sums = ranks.sum(axis=1)
    degrees = (n - 1) * (k - 1)
    residual = float(np.sum(ranks**2) - np.sum(sums**2) / n)
    distances = np.abs(sums[:, None] - sums)
    if residual <= 0 or not degrees:  # all users agree
        return np.where(distances == 0, 1.0, _chance_of_agreement(k, n) if degrees else math.nan)
    p: FloatArray = 2 * stats.t.sf(distances / math.sqrt(2 * n * residual / degrees), degrees)
    return p


def user_ranks(values: npt.ArrayLike, better: str = "higher") -> FloatArray:
    """systems x users: each user's ranks of the systems, 1 the best, ties sharing their mean rank."""
    with needed_for("a ranking of systems"):
        from scipy import stats

    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise DataError("ranks need a table, systems x users, in which every value is a finite number")
    oriented = gridded(table) if better == "lower" else -gridded(table)
    ranks: FloatArray = stats.rankdata(oriented, axis=0)
    return ranks


def _chance_of_agreement(systems: int, users: int) -> float:
    """The probability that all users rank the systems as the first user does, if all orders are equally likely."""
    return math.exp(-(users - 1) * math.lgamma(systems + 1))


def _rank_deviation(systems: int, users: int) -> float:
    """The standard deviation of the difference of two average ranks if no system is better than another."""
    return math.sqrt(systems * (systems + 1) / (6 * users))
