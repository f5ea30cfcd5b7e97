"""The study of which metric and cut-off to trust: correlation, robustness and discriminative power.

For the systems of one run: how far metrics and cut-offs agree on their order, how far a metric keeps to its own order
when held-out ratings are taken away (at random, or those of popular items), and how many pairs of systems it
distinguishes (Valcarce, Bellogín, Parapar & Castells, On the robustness and discriminative power of information
retrieval metrics for top-N recommendation, RecSys 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repro.current import views
from repro.data.interactions import FloatArray
from repro.errors import StudyError
from repro.evaluation.metrics import metric_text, metric_texts, own_name
from repro.metric_study.judged_lists import JudgedRun, judge_run
from repro.metric_study.measuring import Column, all_kept, columns, system_values, user_values
from repro.metric_study.reduced_tests import (
    POPULARITY_SHARES,
    SPARSITY_SHARES,
    Comparison,
    ReducedTest,
    all_taus,
    most_popular,
    sample_size,
    tau,
)
from repro.progress import Shown, progress_reporter
from repro.runs.run import Run
from repro.stats import discriminative_power, p_value_curve, randomisation_test
from repro.types import Progress

if TYPE_CHECKING:
    import altair as alt

DEFAULT_METRICS = ("precision", "recall", "ap", "ndcg", "rr", "bpref", "infap")
DEFAULT_CUTOFFS = (5, *range(10, 101, 10))


@dataclass(frozen=True)
class Settings:
    """The settings of a study of metrics.

    metrics         names without cut-offs, such as "ndcg" or "ndcg[gain=exp2]"
    cutoff_metric   the one whose cut-offs are compared in robustness and power; by default ndcg, or the first
    samples         random test sets of each size
    randomisations  samples of the randomisation test
    level           the p-value below which two systems count as different
    seed            of all draws; by default that of the run
    """

    metrics: tuple[str, ...] = DEFAULT_METRICS
    cutoffs: tuple[int, ...] = DEFAULT_CUTOFFS
    cutoff_metric: str | None = None
    samples: int = 50
    randomisations: int = 100_000
    level: float = 0.05
    seed: int | None = None

    def __post_init__(self) -> None:
        if not self.metrics:
            raise StudyError("no metric is requested; give one or more, such as ndcg")
        object.__setattr__(self, "metrics", tuple(map(own_name, metric_texts(self.metrics))))
        if self.cutoff_metric is not None:
            object.__setattr__(self, "cutoff_metric", own_name(metric_text(self.cutoff_metric)))
        if len(set(self.cutoffs)) < len(self.cutoffs) or any(cutoff < 1 for cutoff in self.cutoffs):
            raise StudyError(f"cut-offs {list(self.cutoffs)} must be different whole numbers of at least 1")
        if not self.cutoffs:
            raise StudyError("no cut-off is requested; give one or more, such as 10 and 100")
        if self.samples < 1 or self.randomisations < 1:
            raise StudyError(f"samples = {self.samples} and randomisations = {self.randomisations} must be at least 1")
        if not 0 < self.level < 1:
            raise StudyError(f"level = {self.level:g} must lie between 0 and 1, such as 0.05")
        if self.cutoff_metric is not None and self.cutoff_metric not in self.metrics:
            raise StudyError(
                f"cut-offs are to be compared for '{self.cutoff_metric}', which is not among the metrics: "
                f"{', '.join(self.metrics)}"
            )

    @property
    def depth(self) -> int:
        return max(self.cutoffs)

    @property
    def whose_cutoffs(self) -> str:
        """The metric whose cut-offs are compared."""
        return self.cutoff_metric or ("ndcg" if "ndcg" in self.metrics else self.metrics[0])


@dataclass(frozen=True, eq=False, repr=False)
class MetricStudy:
    """The results of a metric study, as long tables; ``metric`` and ``cutoff`` name the measure of a row.

    deepest       the metrics at the deepest cut-off
    values        system, value
    correlations  metric_a, cutoff_a, metric_b, cutoff_b, tau: cut-offs of a metric, and metrics at the deepest one
    sparsity      share of the held-out ratings, ratings, tau (the mean over samples), deviation, samples (with a tau)
    popularity    share of the items removed, items, ratings left, tau
    pvalues       system_a, system_b, p
    dp            pairs, dp (the sum of the p-values), significant (pairs below the level), median_p, users

    ``folder`` is that of the run.
    """

    run: JudgedRun
    settings: Settings
    seed: int
    deepest: tuple[Column, ...]
    values: pd.DataFrame
    correlations: pd.DataFrame
    sparsity: pd.DataFrame
    popularity: pd.DataFrame
    pvalues: pd.DataFrame
    dp: pd.DataFrame
    folder: Path | None = None

    def plot(self, figure: str | None = None) -> alt.TopLevelMixin:
        """A figure, as an Altair chart: by default the power of the metrics to tell systems apart.

        figure  "correlation", "sparsity", "popularity" or "power", followed by "-of-metrics" or "-of-cutoffs"
        """
        return views().plot(self, figure=figure)

    def report(self, into: str | Path) -> Path:
        """Write ``report.html``, tables and figures into the folder ``into``; the path of the report."""
        return views().report(self, Path(into))

    @property
    def _heading(self) -> str:
        run = self.run
        return f"{run.question or 'Metrics'}: {len(run.systems)} systems, {run.n_users:,} test users of {run.data}"

    def __repr__(self) -> str:
        """The power of each metric and cut-off to tell systems apart; ``tables`` has the rest."""
        return f"{self._heading}\n{self.dp.to_string(max_rows=30, line_width=100, index=False)}"

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self._heading)}</b></p>{self.dp.to_html(max_rows=30, index=False)}"

    @property
    def metrics_compared(self) -> list[tuple[str, int]]:
        """Every metric, at the deepest cut-off."""
        return [(metric, self.settings.depth) for metric in self.settings.metrics]

    @property
    def cutoffs_compared(self) -> list[tuple[str, int]]:
        """One metric, at every cut-off."""
        return [(self.settings.whose_cutoffs, cutoff) for cutoff in sorted(self.settings.cutoffs)]

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by the names of their files."""
        names = ("values", "correlations", "sparsity", "popularity", "pvalues", "dp")
        return {name: getattr(self, name) for name in names}


def study_metrics(
    run: Run | str | Path, settings: Settings | None = None, *, workers: int = 1, progress: Shown = True
) -> MetricStudy:
    """Study which metric and cut-off can be trusted, on the lists of a finished run.

    run       a run with several algorithms and a metric at the deepest cut-off, or its folder
    settings  metrics, cut-offs and samples (:class:`repro.metric_study.Settings`)
    workers   the number of processes, which changes no number
    progress  whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    Returns a :class:`repro.metric_study.MetricStudy` with a table for each question.

    >>> settings = repro.metric_study.Settings(metrics=("ndcg", "precision"), cutoffs=(5, 10), samples=5)
    >>> study = repro.study_metrics("run", settings)
    >>> study.dp[["metric", "cutoff", "pairs"]].head(2)
          metric  cutoff  pairs
    0       ndcg       5      3
    1       ndcg      10      3
    """
    if workers < 1:
        raise StudyError(f"workers = {workers} must be at least 1")
    with progress_reporter(progress) as report_progress:
        return _studied(run if isinstance(run, Run) else Run(run), settings or Settings(), workers, report_progress)


def _studied(finished: Run, chosen: Settings, workers: int, say: Progress) -> MetricStudy:
    say("reading the lists", 0, 1)
    run = judge_run(finished, chosen.depth)
    seed = run.seed if chosen.seed is None else chosen.seed
    cutoffs = sorted(chosen.cutoffs)
    every = columns(chosen.metrics, cutoffs, run.protocol)
    values = system_values(run, every, all_kept(run))
    say("reading the lists", 1, 1)
    closer = [n for n, c in enumerate(every) if c.cutoff == chosen.depth or c.metric == chosen.whose_cutoffs]
    compared = [every[n] for n in closer]
    comparison = Comparison(run, compared, values[closer], seed)
    sparsity = _sparsity(comparison, chosen.samples, workers, say)
    popularity = _popularity(comparison, say)
    pvalues, dp = _power(run, compared, chosen, seed, workers, say)
    return MetricStudy(
        run=run,
        settings=chosen,
        seed=seed,
        deepest=tuple(column for column in every if column.cutoff == chosen.depth),
        values=_value_table(run, every, values),
        correlations=_correlations(every, values, chosen.depth),
        sparsity=sparsity,
        popularity=popularity,
        pvalues=pvalues,
        dp=dp,
        folder=finished.folder,
    )


def _value_table(run: JudgedRun, every: Sequence[Column], values: FloatArray) -> pd.DataFrame:
    rows = [
        (column.metric, column.cutoff, system, value)
        for column, of_systems in zip(every, values, strict=True)
        for system, value in zip(run.systems, of_systems, strict=True)
    ]
    return pd.DataFrame(rows, columns=["metric", "cutoff", "system", "value"])


def _correlations(every: Sequence[Column], values: FloatArray, depth: int) -> pd.DataFrame:
    """Kendall's tau between the cut-offs of each metric, and between metrics at the deepest cut-off."""
    better = np.array([[-1.0 if column.measure.metric.better == "lower" else 1.0] for column in every]) * values
    rows = [
        (a.metric, a.cutoff, b.metric, b.cutoff, tau(better[i], better[j]))
        for (i, a), (j, b) in product(enumerate(every), repeat=2)
        if a.metric == b.metric or a.cutoff == b.cutoff == depth
    ]
    return pd.DataFrame(rows, columns=["metric_a", "cutoff_a", "metric_b", "cutoff_b", "tau"])


def _sparsity(comparison: Comparison, samples: int, workers: int, say: Progress) -> pd.DataFrame:
    """The mean tau over random test sets of each size; the whole test set agrees with itself."""
    run = comparison.run
    reduced = [ReducedTest(share, sample) for share in SPARSITY_SHARES for sample in range(1, samples + 1)]
    stage = "random test sets"
    taus = all_taus(comparison, reduced, workers, lambda done: say(stage, done, len(reduced)))
    rows = []
    for number, column in enumerate(comparison.columns):
        whole = tau(comparison.whole[number], comparison.whole[number])
        rows.append((column.metric, column.cutoff, 1.0, run.n_ratings, whole, 0.0, int(whole == whole)))
        for share, of_share in zip(SPARSITY_SHARES, taus[:, number].reshape(-1, samples), strict=True):
            known = of_share[~np.isnan(of_share)]
            ratings = sum(sample_size(len(fold.test), share) for fold in run.folds)
            mean = float(known.mean()) if len(known) else np.nan
            deviation = float(known.std(ddof=1)) if len(known) > 1 else np.nan
            rows.append((column.metric, column.cutoff, share, ratings, mean, deviation, len(known)))
    return pd.DataFrame(rows, columns=["metric", "cutoff", "share", "ratings", "tau", "deviation", "samples"])


def _popularity(comparison: Comparison, say: Progress) -> pd.DataFrame:
    """The tau without the ratings of the most popular items; without none of them it is that of the whole set."""
    run = comparison.run
    reduced = [ReducedTest(share, 0) for share in (0.0, *POPULARITY_SHARES)]
    stage = "without popular items"
    taus = all_taus(comparison, reduced, 1, lambda done: say(stage, done, len(reduced)))
    rows = []
    for number, column in enumerate(comparison.columns):
        for test, tau_of_test in zip(reduced, taus[:, number], strict=True):
            left = sum(int(kept.sum()) for kept in test.kept(run, comparison.seed))
            rows.append(
                (column.metric, column.cutoff, test.share, len(most_popular(run, test.share)), left, tau_of_test)
            )
    return pd.DataFrame(rows, columns=["metric", "cutoff", "share", "items", "ratings", "tau"])


def _power(
    run: JudgedRun, compared: Sequence[Column], settings: Settings, seed: int, workers: int, say: Progress
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The p-value of each pair of systems by the randomisation test, and a summary of them for each column."""
    above = np.triu_indices(len(run.systems), k=1)
    pairs, summaries = [], []
    for number, column in enumerate(compared):
        say("randomisation tests", number, len(compared))
        users, values = user_values(run, column.measure)
        p = randomisation_test(values, settings.randomisations, seed, users=users, threads=workers).p
        curve = p_value_curve(p)
        pairs += [
            (column.metric, column.cutoff, run.systems[i], run.systems[j], p[i, j]) for i, j in zip(*above, strict=True)
        ]
        significant, median = int((curve < settings.level).sum()), float(np.median(curve))
        power = discriminative_power(p)
        summaries.append((column.metric, column.cutoff, len(curve), power, significant, median, len(users)))
    say("randomisation tests", len(compared), len(compared))
    return (
        pd.DataFrame(pairs, columns=["metric", "cutoff", "system_a", "system_b", "p"]),
        pd.DataFrame(summaries, columns=["metric", "cutoff", "pairs", "dp", "significant", "median_p", "users"]),
    )
