"""Known weaknesses of intervals and tests, with error rates from simulations.

The weakness depends on the number of users whose values *differ*: users with the same value under both systems add no
information. The numbers come from ``benchmarks/weak_statistics.py``, which prints them, and a slow test checks them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from repro.data.interactions import FloatArray
from repro.stats.equality import gridded

# For each kind of interval and number of differing users: the lowest coverage of 95% intervals over all populations
# and shares of differing users.
COVERAGE: Mapping[str, Mapping[int, float]] = {
    "t": {6: 0.82, 10: 0.87, 15: 0.90, 20: 0.91, 30: 0.91, 40: 0.93},
    "percentile": {6: 0.81, 10: 0.85, 15: 0.89, 20: 0.90, 30: 0.91, 40: 0.93},
    "bca": {6: 0.83, 10: 0.84, 15: 0.88, 20: 0.89, 30: 0.89, 40: 0.91},
}
# For each test and number of differing users: the highest rate of false alarms at the level 0.05, where the means are
# equal, but many users lose little and a few gain much.
FALSE_ALARMS: Mapping[str, Mapping[int, float]] = {
    "t": {6: 0.19, 10: 0.16, 15: 0.13, 20: 0.13, 30: 0.10, 40: 0.10},
    "randomisation": {6: 0.26, 10: 0.19, 15: 0.14, 20: 0.13, 30: 0.11, 40: 0.10},
    "bootstrap": {6: 0.31, 10: 0.22, 15: 0.16, 20: 0.14, 30: 0.11, 40: 0.12},
}
# With at least this many differing users, intervals cover 92% or more, and tests of means have at most 8% false alarms.
ENOUGH = 60
# False alarms of the bootstrap test at small samples, for normally distributed differences, by number of users.
BOOTSTRAP: Mapping[int, float] = {6: 0.13, 10: 0.09, 15: 0.09, 20: 0.075, 30: 0.067}
ENOUGH_FOR_BOOTSTRAP = 40
# Tests of ranks and signs test another hypothesis: false alarms with 20, 60 and 200 differing users of that population.
OF_RANKS: Mapping[str, Mapping[int, float]] = {
    "wilcoxon": {20: 0.42, 60: 0.81, 200: 0.99},
    "sign": {20: 0.81, 60: 0.99, 200: 0.99},
}
# Above this share of ties, a test that drops them is about a minority of the users.
MANY_TIES = 0.5
_EXACT = ("randomisation", "wilcoxon", "sign")  # their p is at least 2 of all assignments of signs


def weaknesses(test: str, interval: str, users: int, ties: int, level: float) -> dict[str, str]:
    """The weaknesses of the interval and the test of a pair: a sentence for each kind.

    users, ties   the number of users, and of those with the same value under both systems
    """
    differing = users - ties
    if users < 2:
        return {}
    if differing == 0:
        return {"same": f"All {users:,} users have the same value under both systems: there is nothing to test."}
    few = f"Only {differing:,} of {users:,} users differ"
    sentences = {}
    if differing < ENOUGH:
        sentences["interval"] = f"{few}: {coverage_sentence(interval, differing)}"
        if test in FALSE_ALARMS:
            measured_at, share = _nearest(FALSE_ALARMS[test], differing)
            sentences["test"] = (
                f"{few}: in simulations with {measured_at} such users and skewed differences, this test ({test}) found "
                f"a difference at 0.05 in up to {share:.0%} of cases where the means were equal."
            )
    if test == "bootstrap" and users < ENOUGH_FOR_BOOTSTRAP:
        measured_at, share = _nearest(BOOTSTRAP, users)
        sentences["bootstrap"] = (
            f"There are only {users:,} users: in simulations with {measured_at}, the bootstrap test found a difference "
            f"at 0.05 in {share:.1%} of cases where there is none; the randomisation test keeps its level."
        )
    if test in OF_RANKS:
        compares = "ranks" if test == "wilcoxon" else "signs"
        sentences["ranks"] = (
            f"This test ({test}) compares {compares} of differences, not means: where a few users gain much and many "
            f"lose little, it found a difference in {OF_RANKS[test][200]:.0%} of simulations with 200 differing users "
            "and equal means."
        )
        if ties > MANY_TIES * users:
            sentences["ties"] = (
                f"{ties:,} of {users:,} users have the same value under both systems: this test ({test}) is about the "
                f"{differing:,} others only."
            )
    smallest = 2.0 ** (1 - differing)
    if test in _EXACT and smallest > level:
        sentences["power"] = f"{few}: p cannot be below {smallest:.3g}, so no difference can be shown at {level:g}."
    return sentences


def _nearest(measured: Mapping[int, float], number: int) -> tuple[int, float]:
    """The largest simulated number up to ``number``, or the smallest of all, with its error rate."""
    nearest = max((count for count in measured if count <= number), default=min(measured))
    return nearest, measured[nearest]


def coverage_sentence(interval: str, differing: int) -> str:
    """The coverage of 95% intervals with so few differing users, in simulations."""
    measured_at, share = _nearest(COVERAGE[interval], differing)
    return (
        f"in simulations with {measured_at} such users, 95% intervals ({interval}) contained the true value in as few "
        f"as {share:.0%} of cases."
    )


def mean_weakness(values: FloatArray) -> str:
    """The weakness of the t interval of the mean of one system; empty if there is none.

    Differing users are those with another value than the most frequent one, which is often 0.
    """
    finite = gridded(values[~np.isnan(values)])
    if len(finite) < 2:
        return ""
    differing = len(finite) - int(np.unique(finite, return_counts=True)[1].max())
    if not 0 < differing < ENOUGH:
        return ""
    few = f"only {differing:,} of {len(finite):,} users differ from the most frequent value"
    return f"{few}: {coverage_sentence('t', differing)}"


def folds_caution(folds: int) -> tuple[str, ...]:
    """A caution about tests on users of several folds; empty for a single fold."""
    if folds < 2:
        return ()
    return (
        f"The numbers come from {folds} folds, which are not independent: their training parts overlap, and a user may "
        "be in several of them. Each user counts once, with the mean over folds; p and intervals are about other users "
        "of these models, not about other training data (Gunawardana & Shani 2009, sections 4.2 and 4.4).",
    )


def summary(pairs: pd.DataFrame, test: str, interval: str, level: float) -> list[str]:
    """The cautions of all pairs, a sentence for each kind: the number of pairs, and the weakest of them."""
    by_kind: dict[str, list[tuple[int, str, str]]] = {}
    for row in pairs.to_dict("records"):
        for kind, sentence in weaknesses(test, interval, row["users"], row["ties"], level).items():
            by_kind.setdefault(kind, []).append((row["users"] - row["ties"], f"{row['a']} and {row['b']}", sentence))
    cautions = []
    for entries in by_kind.values():
        _, names, sentence = min(entries, key=lambda entry: entry[0])
        prefix = (
            f"{names}: " if len(entries) == 1 else f"In {len(entries):,} of {len(pairs):,} pairs, most of all {names}: "
        )
        cautions.append(sentence if len(pairs) == 1 else prefix + sentence[0].lower() + sentence[1:])
    return cautions
