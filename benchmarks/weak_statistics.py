"""A simulation of the cases in which intervals and tests are weak: python benchmarks/weak_statistics.py

Two systems are compared on ``users`` users, of whom a share differs; the others have the same value under both. A 95%
interval should contain the true mean difference in 95% of such experiments, and a test at the level 0.05 should find a
difference where there is none in 5%. The numbers in :mod:`repro.stats.weakness`
are read off these tables: those of the worst population for each number of differing users.

Populations of the differences of those users who differ:

hits         1 for everybody: hit rate, where one system finds what the other misses
gains        exponential: most gain little, a few gain much
mixed        four in five gain (exponential), one in five loses as much on average
symmetric    normal around half its standard deviation: what textbooks assume

For false alarms the mean is 0. ``symmetric``: normal around 0. ``skewed``: four in five lose 1, one in five gains 4, on
average: the means are equal, but more users lose than gain.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from repro.stats.intervals import bootstrap_interval, t_interval
from repro.stats.paired import paired_test

EXPERIMENTS = 1500
RESAMPLES = 1000
DIFFERING = (6, 10, 15, 20, 30, 40, 60, 80, 120, 200)
SHARES = (0.03, 0.25, 1.0)
Draw = Callable[[np.random.Generator, int], np.ndarray]


def hits(draws: np.random.Generator, n: int) -> np.ndarray:
    return np.ones(n)


def gains(draws: np.random.Generator, n: int) -> np.ndarray:
    return draws.exponential(1.0, n)


def mixed(draws: np.random.Generator, n: int) -> np.ndarray:
    return draws.exponential(1.0, n) * np.where(draws.random(n) < 0.8, 1, -1)


def symmetric(draws: np.random.Generator, n: int) -> np.ndarray:
    return draws.normal(0.5, 1.0, n)


def no_difference(draws: np.random.Generator, n: int) -> np.ndarray:
    return draws.normal(0.0, 1.0, n)


def skewed(draws: np.random.Generator, n: int) -> np.ndarray:
    return draws.exponential(1.0, n) * np.where(draws.random(n) < 0.2, 4, -1)


POPULATIONS: dict[str, tuple[Draw, float]] = {
    "hits": (hits, 1.0),
    "gains": (gains, 1.0),
    "mixed": (mixed, 0.6),
    "symmetric": (symmetric, 0.5),
}
NULLS: dict[str, Draw] = {"symmetric": no_difference, "skewed": skewed}


def sample(draw: Draw, draws: np.random.Generator, users: int, share: float) -> np.ndarray:
    """The differences of one experiment."""
    values = np.zeros(users)
    differing = draws.random(users) < share
    values[differing] = draw(draws, int(differing.sum()))
    return values


def resampled(values: np.ndarray, draws: np.random.Generator, samples: int) -> np.ndarray:
    """Means of users drawn with replacement; those with 0 are drawn together."""
    other = values[values != 0]
    n, m = len(values), len(other)
    if not m:
        return np.zeros(samples)
    counts = draws.multinomial(n, [1 / n] * m + [max(0.0, 1 - m / n)], size=samples)
    return counts[:, :m] @ other / n


def coverage(
    population: str, users: int, share: float, experiments: int = EXPERIMENTS, seed: int = 0, samples: int = RESAMPLES
) -> dict[str, float]:
    """The share of experiments in which each kind of 95% interval contains the true mean difference."""
    draw, mean = POPULATIONS[population]
    draws = np.random.default_rng(seed)
    true, covered = mean * share, dict.fromkeys(("t", "percentile", "bca"), 0)
    for _ in range(experiments):
        values = sample(draw, draws, users, share)
        means = resampled(values, draws, samples)
        for method in covered:
            if method == "t" or np.ptp(values) == 0:
                low, high = t_interval(values, 0.95)
            else:
                low, high = bootstrap_interval(values, means, 0.95, method)
            covered[method] += low - 1e-12 <= true <= high + 1e-12
    return {method: count / experiments for method, count in covered.items()}


def false_alarms(
    null: str, users: int, share: float, experiments: int = EXPERIMENTS, seed: int = 0, samples: int = RESAMPLES
) -> dict[str, float]:
    """The share of experiments in which each test finds a difference in means at 0.05, though there is none."""
    draws = np.random.default_rng(seed)
    alarms = dict.fromkeys(("t", "randomisation", "bootstrap", "wilcoxon", "sign"), 0)
    for _ in range(experiments):
        values = sample(NULLS[null], draws, users, share)
        other = values[values != 0]
        if not len(other):
            continue
        observed = abs(values.mean()) - 1e-12
        shifted = resampled(values, draws, samples) - values.mean()
        signs = np.where(draws.random((samples, len(other))) < 0.5, 1.0, -1.0)
        p = {
            "t": stats.ttest_1samp(values, 0.0).pvalue,
            "randomisation": (np.sum(np.abs(signs @ other) / users >= observed) + 1) / (samples + 1),
            "bootstrap": (np.sum(np.abs(shifted) >= observed) + 1) / (samples + 1),
            **{test: paired_test(test, values, np.zeros(users)).p for test in ("wilcoxon", "sign")},
        }
        for test, value in p.items():
            alarms[test] += value <= 0.05
    return {test: count / experiments for test, count in alarms.items()}


def main() -> None:
    print("| population | differing | of users | " + " | ".join(("t", "percentile", "bca")) + " |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for population in POPULATIONS:
        for share in SHARES:
            if share == 1.0 and population == "hits":
                continue  # no spread at all
            for differing in DIFFERING:
                users = round(differing / share)
                covered = coverage(population, users, share)
                print(
                    f"| {population} | {differing} | {users:,} | "
                    + " | ".join(f"{v:.1%}" for v in covered.values())
                    + " |",
                    flush=True,
                )
    tests = ("t", "randomisation", "bootstrap", "wilcoxon", "sign")
    print("\n| no difference, | differing | of users | " + " | ".join(tests) + " |")
    print("| --- | ---: | ---: |" + " ---: |" * len(tests))
    for null in NULLS:
        for share in SHARES:
            for differing in DIFFERING:
                users = round(differing / share)
                alarms = false_alarms(null, users, share)
                print(
                    f"| {null} | {differing} | {users:,} | " + " | ".join(f"{v:.1%}" for v in alarms.values()) + " |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
