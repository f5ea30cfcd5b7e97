"""Multiverses: the algorithms of a study under many protocols, with spread, win rates and rank reversals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.current import views
from repro.errors import StudyError, nearest
from repro.evaluation.metrics import MetricName, metric_text, metric_texts, parse_measure
from repro.evaluation.metrics import metrics as known_metrics
from repro.explanations.design import Axis, Design, Variant, effective_axes, read_axes
from repro.explanations.scored_run import ScoredRun
from repro.explanations.variants import measure_variants
from repro.grouping import grouped
from repro.progress import Shown, progress_reporter
from repro.protocol import registry
from repro.runs.run import Run
from repro.stats import kendall

if TYPE_CHECKING:
    import altair as alt

BUDGET = 1000
VARIED = ("relevance", "candidates", "missing", "ties")

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Multiverse:
    """The numbers of all variants (variants x algorithms x metrics); the first variant is the study's own protocol.

    better        for each metric, whether higher or lower values are better
    refused       for each metric, the number of variants without a number, by reason
    combinations  the number of all combinations, of which the variants may be a sample; None if they are too many to
                  count
    complete      whether the variants are all combinations
    journal       the last journal line of the run
    protocol      the hash of the study's own protocol
    notes         remarks
    """

    study: str
    axes: tuple[Axis, ...]
    variants: tuple[Variant, ...]
    algorithms: tuple[str, ...]
    metrics: tuple[str, ...]
    better: Mapping[str, str]
    values: Values
    refused: Mapping[str, Mapping[str, int]]
    combinations: int | None
    complete: bool
    seed: int
    journal: str = ""
    protocol: str = ""
    notes: tuple[str, ...] = ()
    run: Path | None = None

    def of(self, metric: MetricName) -> Universe:
        """The variants by one metric."""
        name = metric_text(metric)
        if name not in self.metrics:
            raise StudyError(
                f"the multiverse has no metric '{name}'{nearest(name, self.metrics)} Metrics: {', '.join(self.metrics)}"
            )
        return Universe(self, self.metrics.index(name))

    def plot(self, metric: MetricName | None = None) -> alt.TopLevelMixin:
        """The specification curve by a metric (the first one, by default), as an Altair chart.

        It has the numbers of all algorithms in all variants, ordered by those of the algorithm that is best in the
        study; below are the choices of each variant.
        """
        return views().plot(self, metric=metric)

    def report(self, into: str | Path) -> Path:
        """Write ``report.html`` and tables into the folder ``into``; the path of the report."""
        return views().report(self, Path(into))

    @property
    def _heading(self) -> str:
        of = f" of {self.combinations:,}" if self.combinations is not None and not self.complete else ""
        varied = ", ".join(axis.decision for axis in self.axes)
        return f"{self.study}: {len(self.variants):,}{of} protocols; decisions that vary: {varied}"

    def _tables(self) -> dict[str, pd.DataFrame]:
        """The spread of each algorithm by each metric, and the share of protocols in which it is best."""
        universes = [self.of(metric) for metric in self.metrics]
        return {
            universe.metric: universe.spread().assign(wins=universe.wins().to_numpy()).set_index("algorithm")
            for universe in universes
        }

    def __repr__(self) -> str:
        tables = [
            f"{metric}\n{table.to_string(max_rows=20, line_width=100, float_format='{:.4f}'.format)}"
            for metric, table in self._tables().items()
        ]
        return "\n".join([self._heading, *tables, *self.notes])

    def _repr_html_(self) -> str:
        tables = "".join(
            f"<p>{escape(metric)}</p>{table.to_html(max_rows=20, float_format='{:.4f}'.format)}"
            for metric, table in self._tables().items()
        )
        return f"<p><b>{escape(self._heading)}</b></p>{tables}<p>{'<br>'.join(map(escape, self.notes))}</p>"

    def to_frame(self) -> pd.DataFrame:
        """A row for each variant, algorithm and metric, with the choices of the variant."""
        choices = pd.DataFrame([variant.choices for variant in self.variants], dtype=object)
        choices.insert(0, "variant", np.arange(len(self.variants)))
        choices.insert(1, "protocol", [variant.protocol.hash[:12] for variant in self.variants])
        n_variants, n_algorithms, n_metrics = self.values.shape
        long = choices.loc[choices.index.repeat(n_algorithms * n_metrics)].reset_index(drop=True)
        long["algorithm"] = np.tile(np.repeat(self.algorithms, n_metrics), n_variants)
        long["metric"] = np.tile(self.metrics, n_variants * n_algorithms)
        long["value"] = self.values.reshape(-1)
        return long


@dataclass(frozen=True, eq=False)
class Universe:
    """All variants by one metric."""

    multiverse: Multiverse
    index: int

    @cached_property
    def values(self) -> Values:
        """Variants x algorithms."""
        return self.multiverse.values[:, :, self.index]

    @property
    def metric(self) -> str:
        return self.multiverse.metrics[self.index]

    @cached_property
    def _scores(self) -> Values:
        """The values with their sign such that higher is better."""
        return -self.values if self.multiverse.better[self.metric] == "lower" else self.values

    def spread(self) -> pd.DataFrame:
        """For each algorithm: its number in the study, and the minimum, quartiles and maximum over all variants."""
        rows = []
        for label, values in zip(self.multiverse.algorithms, self.values.T, strict=True):
            finite = values[np.isfinite(values)]
            quartiles = np.quantile(finite, [0, 0.25, 0.5, 0.75, 1]) if len(finite) else [np.nan] * 5
            names = ("min", "q1", "median", "q3", "max")
            rows.append({"algorithm": label, "own": values[0], **dict(zip(names, quartiles, strict=True))})
        return pd.DataFrame(rows)

    def wins(self) -> pd.Series[float]:
        """The share of variants in which each algorithm is best; ties share a win."""
        scores = np.where(np.isfinite(self._scores), self._scores, -np.inf)
        best = (scores == scores.max(axis=1, keepdims=True)) & np.isfinite(scores)
        counted = best.sum(axis=1, keepdims=True)
        shares = np.where(counted > 0, best / np.maximum(counted, 1), 0.0)
        return pd.Series(shares.sum(axis=0) / max(int((counted > 0).sum()), 1), index=list(self.multiverse.algorithms))

    @cached_property
    def orders(self) -> npt.NDArray[np.int64]:
        """For each variant and algorithm, how many algorithms are better; -1 if the algorithm has no number.

        Variants with equal rows rank the algorithms in the same order.
        """
        better = [(row[np.newaxis, :] > row[:, np.newaxis]).sum(axis=1) for row in self._scores]
        return np.where(np.isfinite(self._scores), np.array(better, dtype=np.int64), -1)

    def taus(self) -> Values:
        """Kendall's tau-b between the order of algorithms under the study's protocol and under each variant.

        It is taken over the algorithms with a number in both, and NaN if there is no order.
        """
        distinct, positions = np.unique(self.orders, axis=0, return_inverse=True)
        return np.array([_tau(self.orders[0], order) for order in distinct])[positions.reshape(-1)]

    def mean_tau(self) -> float:
        """The mean of Kendall's tau over all pairs of variants that have an order."""
        distinct, counts = np.unique(self.orders, axis=0, return_counts=True)
        total, pairs = 0.0, 0
        for i in range(len(distinct)):
            for j in range(i + 1):
                weight = int(counts[i] * (counts[i] - 1) // 2 if i == j else counts[i] * counts[j])
                tau = _tau(distinct[i], distinct[j])
                if weight and np.isfinite(tau):
                    total, pairs = total + weight * tau, pairs + weight
        return total / pairs if pairs else float("nan")

    def decisions(self) -> pd.DataFrame:
        """For each decision, statistics over all pairs of variants that differ in this decision only.

        pairs   the number of pairs
        moves   the mean absolute difference of the numbers
        winner  the share of pairs in which another algorithm wins
        order   the share of pairs in which the order of algorithms differs

        The decision that changes the order most often comes first.
        """
        rows = []
        for axis in self.multiverse.axes:
            first, second = self._pairs(axis.decision)
            moved = np.abs(self.values[first] - self.values[second])
            other_winner = ((self.orders[first] == 0) != (self.orders[second] == 0)).any(axis=1)
            other_order = (self.orders[first] != self.orders[second]).any(axis=1)
            rows.append(
                {
                    "decision": axis.decision,
                    "pairs": len(first),
                    "moves": float(np.nanmean(moved)) if np.isfinite(moved).any() else np.nan,
                    "winner": float(other_winner.mean()) if len(first) else np.nan,
                    "order": float(other_order.mean()) if len(first) else np.nan,
                }
            )
        return pd.DataFrame(rows).sort_values(["order", "winner", "moves"], ascending=False, ignore_index=True)

    def _pairs(self, decision: str) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The pairs of variants that differ only in one decision and in decisions that depend on it."""
        decisions = registry()
        fixed = [axis.decision for axis in self.multiverse.axes if not decisions.depends_on(axis.decision, decision)]
        variants = self.multiverse.variants
        choices = [variant.choices[decision] for variant in variants]
        stated = (number for number, choice in enumerate(choices) if choice is not None)
        groups = grouped(stated, lambda number: tuple(variants[number].choices[name] for name in fixed)).values()
        pairs = [(a, b) for group in groups for a, b in combinations(group, 2) if choices[a] != choices[b]]
        indices = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        return indices[:, 0], indices[:, 1]

    def by_option(self) -> pd.DataFrame:
        """For each decision and option: the number of variants, and the mean number of each algorithm over them."""
        rows = []
        for axis in self.multiverse.axes:
            chosen = np.array([variant.choices[axis.decision] for variant in self.multiverse.variants], dtype=object)
            for value in axis.values:
                selected = chosen == value
                if selected.any():
                    row = {"decision": axis.decision, "option": value, "variants": int(selected.sum())}
                    means = [_mean(column) for column in self.values[selected].T]
                    rows.append(row | dict(zip(self.multiverse.algorithms, means, strict=True)))
        return pd.DataFrame(rows)


def _mean(values: Values) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")


def _tau(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> float:
    both = (first >= 0) & (second >= 0)
    return kendall(first[both], second[both])


def multiverse(
    run: ScoredRun | Run | str | Path,
    vary: Sequence[str] = VARIED,
    *,
    metrics: MetricName | Sequence[MetricName] | None = None,
    algorithms: Sequence[str] | None = None,
    data: object = None,
    budget: int = BUDGET,
    seed: int = 0,
    progress: Shown = True,
) -> Multiverse:
    """Evaluate the algorithms of a run under many protocols, from its stored scores (`repro run --keep-scores`).

    run         the run, or its folder
    vary        families of decisions (``ties``), decisions, or decisions with values (``relevance.threshold=3|4``)
    metrics     names such as ``"ndcg@10"``, or :class:`repro.Metric`; by default those of the run
    algorithms  labels of algorithms; by default all
    data        the data of the run, or its path, if it has moved or was given in code
    budget      the largest number of variants; if there are more combinations, a designed sample is used
                (:mod:`repro.explanations.design`)
    seed        the random seed of the sample
    progress    whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    >>> multiverse = repro.multiverse("run", ["ties.break=item-asc|item-desc", "metric.ndcg.gain"])
    >>> wins = multiverse.of("ndcg@10").wins()  # for each algorithm, the share of the protocols in which it is best
    >>> list(wins.index)
    ['popularity', 'knn', 'EASE']
    """
    scored = ScoredRun.open(run, data)
    names = metric_texts(metrics or tuple(dict.fromkeys(measure.name for measure in scored.run.measures)))
    axes = read_axes(vary, scored.protocol, scored.plan.interactions.ratings)
    if not axes:
        raise StudyError(f"nothing to vary: {', '.join(vary) or 'no decision'} has no other options")
    design = Design(scored.protocol, axes, budget, seed)
    variants = design.variants()
    axes = effective_axes(axes, variants)  # raises errors before the long computation
    with progress_reporter(progress) as report_progress:
        measured = measure_variants(
            scored, [variant.protocol for variant in variants], names, algorithms, report_progress
        )
    for name in names:
        if (0, name) in measured.refusals:
            raise StudyError(f"the study's own protocol has no {name}: {measured.refusals[0, name]}")
    refused: dict[str, dict[str, int]] = {}
    for (_, name), why in measured.refusals.items():
        counts = refused.setdefault(name, {})
        counts[why] = counts.get(why, 0) + 1
    defined = [n for n in range(len(variants)) if any((n, name) not in measured.refusals for name in names)]
    metrics_by_name = known_metrics()
    return Multiverse(
        study=scored.study.question or scored.run.folder.name,
        axes=tuple(axes),
        variants=tuple(variants[number] for number in defined),
        algorithms=measured.algorithms,
        metrics=names,
        better={name: parse_measure(name, scored.protocol, metrics_by_name).metric.better for name in names},
        values=measured.values[defined],
        refused=refused,
        combinations=design.combinations,
        notes=scored.notes,
        complete=design.complete,
        seed=seed,
        journal=scored.run.journal.end.cited(),
        protocol=scored.protocol.hash,
        run=scored.run.folder,
    )
