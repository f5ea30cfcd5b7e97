"""The randomisation test of all pairs of 21 systems on 6,040 users: python benchmarks/randomisation.py

Beside it, on fewer samples (and of one pair) and multiplied up, as all are linear in both: NumPy with the same idea,
one matrix product of signs and values for all systems; NumPy pair by pair; scipy.stats.permutation_test.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from repro.stats import randomisation_test

SYSTEMS, USERS, SAMPLES = 21, 6_040, 100_000
PAIRS = SYSTEMS * (SYSTEMS - 1) // 2
FEW_SAMPLES = 5_000


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The least of several times."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def numpy_pair(a: np.ndarray, b: np.ndarray, samples: int, block: int = 500) -> float:
    """One pair: random signs times differences."""
    draws = np.random.default_rng(0)
    difference = a - b
    observed = abs(difference.sum())
    count = 0
    for _ in range(samples // block):
        signs = draws.integers(0, 2, (block, len(difference)), dtype=np.int8) * 2.0 - 1
        count += int((np.abs(signs @ difference) >= observed).sum())
    return (count + 1) / (samples + 1)


def numpy_systems(values: np.ndarray, samples: int, block: int = 500) -> np.ndarray:
    """All pairs from one product of random signs and the values of all systems."""
    draws = np.random.default_rng(0)
    totals = values.sum(axis=1)
    observed = np.abs(totals[:, None] - totals)
    counts = np.zeros(observed.shape, dtype=np.int64)
    for _ in range(samples // block):
        sums = (draws.integers(0, 2, (block, values.shape[1]), dtype=np.int8) * 2.0 - 1) @ values.T
        counts += (np.abs(sums[:, :, None] - sums[:, None, :]) >= observed).sum(axis=0)
    return (counts + 1) / (samples + 1)


def scipy_pair(a: np.ndarray, b: np.ndarray, samples: int) -> float:
    def statistic(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(x - y, axis=axis)

    test = stats.permutation_test(
        (a, b), statistic, permutation_type="samples", n_resamples=samples, vectorized=True, batch=500, rng=0
    )
    return float(test.pvalue)


def main() -> None:
    draws = np.random.default_rng(1)
    levels = draws.beta(1, 3, USERS)
    values = np.clip(levels + draws.normal(0, 0.1, (SYSTEMS, USERS)) + np.linspace(0, 0.01, SYSTEMS)[:, None], 0, 1)
    randomisation_test(values[:, :100], 1_000)  # compile, or load what was compiled
    ours = seconds(lambda: randomisation_test(values, SAMPLES))
    share = SAMPLES // FEW_SAMPLES
    ways = (
        ("NumPy, one product for all systems", lambda: numpy_systems(values, FEW_SAMPLES), share),
        ("NumPy, pair by pair", lambda: numpy_pair(values[0], values[1], FEW_SAMPLES), share * PAIRS),
        ("scipy.stats.permutation_test", lambda: scipy_pair(values[0], values[1], FEW_SAMPLES), share * PAIRS),
    )
    print(f"{PAIRS} pairs of {SYSTEMS} systems on {USERS:,} users, {SAMPLES:,} samples\n")
    print("| way | seconds | times ours |")
    print("| --- | ---: | ---: |")
    print(f"| repro.stats.randomisation_test | {ours:.2f} | 1 |")
    for title, work, factor in ways:
        taken = seconds(work, 2) * factor
        print(f"| {title} (a {factor:,}th, multiplied up) | {taken:,.0f} | {taken / ours:,.0f} |")


if __name__ == "__main__":
    main()
