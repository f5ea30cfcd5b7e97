"""Compare systems on per-user values: a test, a correction, effect sizes and a verdict for each pair.

Significance is computed here only: the command, the report, exports and `repro diff` use the result.

**The default test** is Fisher's randomisation test on the difference in means. It tests the number that is
reported (the mean), assumes no distribution, and holds its level for any number of users. In simulations with known
truth it and Student's t test keep their level, while the bootstrap test errs at small samples, and Wilcoxon's and the
sign test, which compare ranks and signs, find differences where means are equal (Smucker, Allan & Carterette 2007;
Urbano, Lima & Hanjalic 2019); with thousands of users and sparse relevance, as in recommendation, the errors of
the latter two grow (Ihemelandu & Ekstrand 2023). Studies of recommendation metrics use it too (Valcarce et al. 2018).
Student's t test needs no draws and gives nearly the same p; `--test t` asks for it.

**The default family** is all pairs of systems by one metric; with a baseline, all pairs with it. Each metric is its own
family. **The default correction** is Holm's, which controls the probability of any false difference in the family
whatever the dependence between tests, and is never weaker than Bonferroni's (Gunawardana & Shani 2009, section 4.3,
demand a correction).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import pandas as pd

from repro.data.interactions import FloatArray
from repro.errors import DataError, ReproWarning, StudyError, nearest
from repro.stats import effects
from repro.stats.corrections import CORRECTIONS, correction
from repro.stats.corrections import correct as corrected
from repro.stats.friedman import Friedman, friedman
from repro.stats.intervals import Interval, bootstrap_interval, check_method, t_interval
from repro.stats.paired import Outcome, Outcomes, Table, named_test, outcomes_of
from repro.stats.resampling import RESAMPLES, SAMPLES, resampled_means
from repro.stats.weakness import summary, weaknesses

TEST, CORRECTION, LEVEL = "randomisation", "holm", 0.05
BETTER = ("higher", "lower", "neither")

COLUMNS = (
    *("a", "b", "mean_a", "mean_b", "difference", "low", "high", "relative", "cohen_dz", "rank_biserial"),
    *("superiority", "statistic", "p", "p_corrected", "significant", "verdict", "users", "ties", "dropped"),
    *("left_out", "how", "caution"),
)


@dataclass(frozen=True)
class Settings:
    """Settings for the comparison of systems.

    test       the test of each pair; a name of :data:`repro.stats.TESTS` (:mod:`repro.stats.comparison` has the
               reasons for the default)
    correct    the correction for the number of pairs; a name of :data:`repro.stats.CORRECTIONS`
    baseline   compare only pairs with this system; by default all pairs
    level      the significance level for corrected p-values
    better     which values are better: "higher", "lower" or "neither"
    samples    the number of samples of the randomisation test and of the bootstrap test
    seed       the random seed
    zeros      how the Wilcoxon test treats ties; a name of :data:`repro.stats.ZEROS`
    interval   the interval of the difference, with confidence 1 - level for each pair: "t", "percentile" or "bca"
    resamples  the number of resamples of bootstrap intervals
    """

    test: str = TEST
    correct: str = CORRECTION
    baseline: str | None = None
    level: float = LEVEL
    better: str = "higher"
    samples: int = SAMPLES
    seed: int = 0
    zeros: str = "wilcox"
    interval: str = "t"
    resamples: int = RESAMPLES

    def stated(self, family: str) -> str:
        """Test, correction, family of comparisons and level in words; ``family`` names the pairs."""
        corrected = self.corrected_for(family, CORRECTIONS[self.correct].title)
        return f"{named_test(self.test).title}, two-sided, {corrected}, level {self.level:g}"

    def corrected_for(self, family: str, method: str) -> str:
        """Whether p-values allow for a family of comparisons, in words; ``method`` names the correction."""
        if named_test(self.test).family_wise:
            return f"which allows for {family}"
        return f"corrected for {family} by {method}" if self.correct != "none" else f"not corrected for {family}"

    def check(self, systems: list[str]) -> None:
        """Raise an error for unknown names and values out of range."""
        named_test(self.test)
        correction(self.correct)
        check_method(self.interval)
        if len(systems) < 2:
            raise StudyError(f"there is nothing to compare: {len(systems)} system with values; give two or more")
        if self.better not in BETTER:
            raise StudyError(f"better = '{self.better}' must be one of {', '.join(BETTER)}")
        if not 0 < self.level < 1:
            raise StudyError(f"level = {self.level} must be between 0 and 1")
        if self.baseline is not None and self.baseline not in systems:
            raise StudyError(
                f"the baseline '{self.baseline}' is not a system{nearest(self.baseline, systems)} "
                f"Systems: {', '.join(systems)}"
            )


@dataclass(frozen=True, eq=False)
class Comparison:
    """The pairs, a row for each, with further results.

    pairs     see :func:`compare`
    systems   the number of systems
    friedman  Friedman's test, if there are more than two systems, on the users that all systems have
    ranks     the average rank of each system for these users, 1 the best
    notes     sentences about excluded users and uncorrected p-values
    cautions  sentences about weak intervals or tests (:mod:`repro.stats.weakness`)
    """

    pairs: pd.DataFrame
    settings: Settings
    systems: int
    friedman: Friedman | None = None
    ranks: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The family of comparisons for which p is corrected."""
        pairs = "the only pair" if len(self.pairs) == 1 else f"all {len(self.pairs):,} pairs"
        baseline = self.settings.baseline
        return f"{pairs} of {self.systems} systems" if baseline is None else f"{pairs} with {baseline}"

    @property
    def stated(self) -> str:
        """The test, the family, the correction and the level in words, the same in every view."""
        return self.settings.stated(self.family)

    def against(self, reference: str) -> pd.DataFrame:
        """The pairs with ``reference`` as ``b``, indexed by the other system, ``a``.

        Signs are reversed where needed; p, verdicts and cautions are those of :attr:`pairs`.
        """
        pairs = self.pairs
        rows = pairs[(pairs["a"] == reference) | (pairs["b"] == reference)].copy()
        swapped = rows["a"] == reference
        for left, right in (("a", "b"), ("mean_a", "mean_b")):
            rows.loc[swapped, [left, right]] = rows.loc[swapped, [right, left]].to_numpy()
        rows.loc[swapped, ["low", "high"]] = -rows.loc[swapped, ["high", "low"]].to_numpy()
        for name in ("difference", "cohen_dz", "rank_biserial"):
            rows.loc[swapped, name] = -rows.loc[swapped, name]
        rows.loc[swapped, "superiority"] = 1 - rows.loc[swapped, "superiority"]
        base = rows["mean_b"].abs()
        rows.loc[swapped, "relative"] = (rows["difference"] / base.where(base > 0))[swapped]
        return rows.drop(columns="statistic").set_index("a", drop=False).rename_axis(None)


def compare(values: pd.DataFrame, settings: Settings | None = None) -> pd.DataFrame:
    """Compare the columns of ``values`` (users x systems, with user ids as the index; NaN for missing values).

    Each row of the result is a pair: ``a``, which has the better mean, and ``b``; with a baseline, ``b`` is the
    baseline. The rows with the smallest p come first.

    mean_a, mean_b, difference  over the users with values of both systems
    low, high      the interval of the difference
    relative       the difference as a share of the mean of b
    cohen_dz, rank_biserial  effect sizes, with the sign of the difference
    superiority    the share of users for whom a is better, ties counted half
    statistic, p, how  the test statistic, the two-sided p-value, and the method of its computation
    p_corrected    p corrected for the number of pairs
    significant, verdict  whether p_corrected is within the level, and the result in words
    users, ties, dropped  the number of users with both values, of those with equal values, and of those that the test
                   drops
    left_out       the number of users with only one of the two values
    caution        weaknesses of the interval or the test of this pair (:mod:`repro.stats.weakness`)

    >>> values = pd.DataFrame({"ours": [0.5, 0.4, 0.9, 0.3, 0.7, 0.6], "theirs": [0.4, 0.2, 0.5, 0.2, 0.4, 0.5]})
    >>> pairs = repro.stats.compare(values)
    >>> pairs["p"].round(5).tolist()  # 2 of the 64 permutations give a difference this large
    [0.03125]
    >>> pairs["verdict"].tolist()
    ['ours is better']
    """
    result = comparison(values, settings or Settings())
    for caution in result.cautions:
        warnings.warn(caution, ReproWarning, stacklevel=2)
    return result.pairs


def comparison(values: pd.DataFrame, settings: Settings) -> Comparison:
    """:func:`compare`, with Friedman's test and notes."""
    values = _checked(values)
    settings.check(list(values.columns))
    test = named_test(settings.test)
    complete = values.dropna()
    notes = []
    if test.joint and len(complete) < len(values):
        notes.append(
            f"{test.title} compares all systems together: {len(values) - len(complete):,} of {len(values):,} users "
            "that not all systems have are left out."
        )
        values = complete
    if test.family_wise and settings.correct != "none":
        notes.append(f"{test.title} allows for all pairs already: p is not corrected again.")
    pairs = _with_verdicts(pd.DataFrame(_rows(values, settings), columns=list(COLUMNS)), settings)
    order = ["p_corrected", "p", "size"]
    pairs = pairs.assign(size=-pairs["difference"].abs()).sort_values(order, kind="stable", ignore_index=True)
    pairs = pairs.drop(columns="size")
    incomplete = pairs[pairs["left_out"] > 0]
    if len(incomplete):
        notes.append(
            f"In {len(incomplete):,} of {len(pairs):,} pairs, users that only one of the two has are left out: "
            f"up to {int(incomplete['left_out'].max()):,}, see left_out."
        )
    overall, ranks = None, {}
    if complete.shape[1] > 2 and len(complete) > 1:
        overall = friedman(complete.to_numpy().T, settings.better)
        ranks = dict(zip(complete.columns, overall.average_ranks.tolist(), strict=True))
        if len(complete) < len(values):
            notes.append(f"Friedman's test is on the {len(complete):,} of {len(values):,} users that all systems have.")
    cautions = summary(pairs, settings.test, settings.interval, settings.level)
    return Comparison(pairs, settings, values.shape[1], overall, ranks, tuple(notes), tuple(cautions))


def compare_matched(tables: Mapping[str, pd.DataFrame], settings: Settings) -> pd.DataFrame:
    """Compare two systems in several tables (users x 2), such as an algorithm in two runs: a row for each table.

    The family of comparisons is all tables. Rows are as in :func:`compare`, indexed by table, in their order.
    """
    rows = []
    for values in tables.values():
        first, second = (str(column) for column in values.columns)
        rows += _rows(_checked(values), replace(settings, baseline=second))
        assert rows[-1]["a"] == first
    return _with_verdicts(pd.DataFrame(rows, columns=list(COLUMNS), index=list(tables)), settings)


def _with_verdicts(pairs: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Add corrected p-values over all rows, verdicts and cautions."""
    test = named_test(settings.test)
    pairs["p_corrected"] = pairs["p"] if test.family_wise else corrected(pairs["p"], settings.correct)
    pairs["significant"] = pairs["p_corrected"] <= settings.level
    pairs["verdict"] = [_verdict(row, settings.better) for _, row in pairs.iterrows()]
    counts = zip(pairs["users"].tolist(), pairs["ties"].tolist(), strict=True)
    kinds = [weaknesses(settings.test, settings.interval, users, ties, settings.level) for users, ties in counts]
    pairs["caution"] = [" ".join(sentences.values()) for sentences in kinds]
    return pairs


def _checked(values: pd.DataFrame) -> pd.DataFrame:
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "values must be numbers, a row for each user and a column for each system; put the user into the index"
        ) from None
    if values.index.has_duplicates or values.columns.has_duplicates:
        raise DataError(
            "values must have one row for each user and one column for each system; a user or a system occurs twice"
        )
    if np.isinf(values.to_numpy()).any():
        raise DataError("an infinite value cannot be averaged or compared; check the metric of that user")
    return values.set_axis(values.columns.map(str), axis=1)


def _rows(values: pd.DataFrame, settings: Settings) -> list[dict[str, object]]:
    """A row for each pair; the column verdict holds the direction of the test for now."""
    if settings.baseline is None:
        pairs = list(combinations(values.columns, 2))
    else:
        pairs = [(system, settings.baseline) for system in values.columns if system != settings.baseline]
    if not values.isna().to_numpy().any():
        systems = _Systems(values, settings)
        return [_row(systems, a, b, settings, left_out=0) for a, b in pairs]
    rows = []
    for a, b in pairs:
        both = values[[a, b]].dropna()
        either = int(values[[a, b]].notna().any(axis=1).sum())
        rows.append(_row(_Systems(both, settings), a, b, settings, left_out=either - len(both)))
    return rows


class _Systems:
    """Systems on the same users; computations that all pairs share are done once."""

    def __init__(self, values: pd.DataFrame, settings: Settings) -> None:
        self.values = {system: values[system].to_numpy() for system in values.columns}
        self._index = {system: number for number, system in enumerate(values.columns)}
        self._settings = settings
        table, ids = np.ascontiguousarray(values.to_numpy().T), values.index.to_numpy()
        options = Table(table, ids, settings.samples, settings.seed, settings.zeros)
        self._outcomes: Outcomes = outcomes_of(settings.test, options)
        self._resampled: FloatArray | None = None
        if settings.interval != "t" and len(values) > 1:
            self._resampled = resampled_means(table, settings.resamples, settings.seed, users=ids)

    def outcome(self, a: str, b: str) -> Outcome:
        return self._outcomes(self._index[a], self._index[b])

    def interval(self, a: str, b: str) -> Interval:
        difference, confidence = self.values[a] - self.values[b], 1 - self._settings.level
        if self._resampled is None:
            return t_interval(difference, confidence)
        resampled = self._resampled[:, self._index[a]] - self._resampled[:, self._index[b]]
        return bootstrap_interval(difference, resampled, confidence, self._settings.interval)


def _row(systems: _Systems, a: str, b: str, settings: Settings, left_out: int) -> dict[str, object]:
    lower = settings.better == "lower"
    if settings.baseline is None:
        first, second = effects.mean(systems.values[a]), effects.mean(systems.values[b])
        if (second < first) if lower else (second > first):
            a, b = b, a
    of_a, of_b = systems.values[a], systems.values[b]
    outcome = systems.outcome(a, b)
    low, high = systems.interval(a, b)
    superiority = effects.superiority(of_a, of_b)
    return {
        "a": a,
        "b": b,
        "mean_a": effects.mean(of_a),
        "mean_b": effects.mean(of_b),
        "difference": effects.mean_difference(of_a, of_b),
        "low": low,
        "high": high,
        "relative": effects.relative_difference(of_a, of_b),
        "cohen_dz": effects.cohen_dz(of_a, of_b),
        "rank_biserial": effects.rank_biserial(of_a, of_b),
        "superiority": 1 - superiority if lower else superiority,
        "statistic": outcome.statistic,
        "p": outcome.p,
        "verdict": outcome.direction,
        "users": outcome.users,
        "ties": outcome.ties,
        "dropped": outcome.dropped,
        "left_out": left_out,
        "how": outcome.how,
    }


def _verdict(row: pd.Series, better: str) -> str:
    """The result of the test in words; the column verdict holds its direction, 1 if a is higher."""
    direction, difference = row["verdict"], row["difference"]
    if math.isnan(row["p_corrected"]):
        return "cannot be tested: fewer than two users"
    if not row["significant"]:
        return "no difference shown"
    higher = row["a"] if direction == 1 else row["b"]
    by_mean = row["a"] if difference > 0 else row["b"]
    word = "higher" if better == "neither" else "better"
    if better == "lower":
        higher, by_mean = (row["b"] if chosen == row["a"] else row["a"] for chosen in (higher, by_mean))
    if higher != by_mean and difference:
        return f"{higher} is {word} by the test, {by_mean} by the mean"
    return f"{higher} is {word}"
