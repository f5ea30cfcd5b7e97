"""Many protocols over the algorithms of a study: how far numbers spread, who wins, and what turns the order round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.errors import StudyError
from repro.evaluation.metrics import metrics, parse_measure
from repro.explain.design import Axis, Design, Variant, axes_met, read_axes
from repro.explain.scored_run import ScoredRun
from repro.explain.variants import measure_variants
from repro.protocol import Value, registry
from repro.stats import kendall

BUDGET = 1000
VARIED = ("relevance", "candidates", "missing", "ties")

Tell = Callable[[str, int, int], None]
Values = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Multiverse:
    """The numbers of all variants: variants by algorithms by metrics; the first variant is the study's own protocol.

    refused       of metrics, how many variants have no numbers, by why
    notes         what else is to be known
    combinations  how many protocols there are in all, of which the variants are a sample where they are fewer; None
                  where they are too many to be counted
    journal       the line of the journal with which the run finished; ``protocol`` is the hash of the study's own
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

    def of(self, metric: str) -> Universe:
        """What is to be seen by one metric."""
        return Universe(self, self.metrics.index(metric))

    def to_frame(self) -> pd.DataFrame:
        """One row for each variant, algorithm and metric, with the choices of the variant."""
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
    place: int

    @cached_property
    def values(self) -> Values:
        """Variants by algorithms."""
        return self.multiverse.values[:, :, self.place]

    @property
    def metric(self) -> str:
        return self.multiverse.metrics[self.place]

    @cached_property
    def _scores(self) -> Values:
        """The values, the higher the better."""
        return -self.values if self.multiverse.better[self.metric] == "lower" else self.values

    def spread(self) -> pd.DataFrame:
        """For each algorithm: its number in the study, and the least, the quartiles and the most of all variants."""
        rows = []
        for label, values in zip(self.multiverse.algorithms, self.values.T, strict=True):
            known = values[np.isfinite(values)]
            quartiles = np.quantile(known, [0, 0.25, 0.5, 0.75, 1]) if len(known) else [np.nan] * 5
            names = ("min", "q1", "median", "q3", "max")
            rows.append({"algorithm": label, "own": values[0], **dict(zip(names, quartiles, strict=True))})
        return pd.DataFrame(rows)

    def wins(self) -> pd.Series[float]:
        """The share of variants in which each algorithm is best; those that are best together share it."""
        scores = np.where(np.isfinite(self._scores), self._scores, -np.inf)
        best = (scores == scores.max(axis=1, keepdims=True)) & np.isfinite(scores)
        counted = best.sum(axis=1, keepdims=True)
        shares = np.where(counted > 0, best / np.maximum(counted, 1), 0.0)
        return pd.Series(shares.sum(axis=0) / max(int((counted > 0).sum()), 1), index=list(self.multiverse.algorithms))

    @cached_property
    def orders(self) -> npt.NDArray[np.int64]:
        """For each variant, how many algorithms are better than each: two variants with equal rows rank alike.

        -1 where an algorithm has no number.
        """
        better = [(row[np.newaxis, :] > row[:, np.newaxis]).sum(axis=1) for row in self._scores]
        return np.where(np.isfinite(self._scores), np.array(better, dtype=np.int64), -1)

    def taus(self) -> Values:
        """Kendall's tau (b) between the order of algorithms under the study's protocol and under each variant: of those
        that have a number in both, and not a number where there is no order."""
        return np.array([self._tau(self.orders[0], row) for row in self.orders])

    def mean_tau(self) -> float:
        """The mean of Kendall's tau over all pairs of variants that have an order."""
        different, counts = np.unique(self.orders, axis=0, return_counts=True)
        total, pairs = 0.0, 0
        for one in range(len(different)):
            for two in range(one + 1):
                weight = int(counts[one] * (counts[one] - 1) // 2 if one == two else counts[one] * counts[two])
                tau = self._tau(different[one], different[two])
                if weight and np.isfinite(tau):
                    total, pairs = total + weight * tau, pairs + weight
        return total / pairs if pairs else float("nan")

    def _tau(self, one: npt.NDArray[np.int64], two: npt.NDArray[np.int64]) -> float:
        key = (one.tobytes(), two.tobytes())
        if key not in self._known_taus:
            both = (one >= 0) & (two >= 0)
            self._known_taus[key] = kendall(one[both], two[both])
        return self._known_taus[key]

    @cached_property
    def _known_taus(self) -> dict[tuple[bytes, bytes], float]:
        return {}

    def decisions(self) -> pd.DataFrame:
        """For each decision, over all pairs of variants that differ in it alone: how many pairs there are, how far
        the number moves on average, and in which share of them another algorithm wins, or the order is another one.

        The decision that turns the order round most comes first.
        """
        rows = []
        for axis in self.multiverse.axes:
            one, two = self._apart(axis.decision)
            if not len(one):
                rows.append({"decision": axis.decision, "pairs": 0, "moves": np.nan, "winner": np.nan, "order": np.nan})
                continue
            moved = np.abs(self.values[one] - self.values[two])
            winner = self.orders[one] == 0
            rows.append(
                {
                    "decision": axis.decision,
                    "pairs": len(one),
                    "moves": float(np.nanmean(moved)) if np.isfinite(moved).any() else np.nan,
                    "winner": float((winner != (self.orders[two] == 0)).any(axis=1).mean()),
                    "order": float((self.orders[one] != self.orders[two]).any(axis=1).mean()),
                }
            )
        return pd.DataFrame(rows).sort_values(["order", "winner", "moves"], ascending=False, ignore_index=True)

    def _apart(self, decision: str) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The pairs of variants that differ in one decision, and in what hangs on it, alone."""
        known = registry()
        others = [axis.decision for axis in self.multiverse.axes if not known.hangs_on(axis.decision, decision)]
        groups: dict[tuple[object, ...], list[int]] = {}
        for number, variant in enumerate(self.multiverse.variants):
            if variant.choices[decision] is not None:
                groups.setdefault(tuple(variant.choices[name] for name in others), []).append(number)
        choices = [variant.choices[decision] for variant in self.multiverse.variants]
        pairs = [
            pair for group in groups.values() for pair in combinations(group, 2) if choices[pair[0]] != choices[pair[1]]
        ]
        found = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def by_option(self) -> pd.DataFrame:
        """For each decision and option: how many variants have it, and the mean number of each algorithm there."""
        rows: list[dict[str, object]] = []
        for axis in self.multiverse.axes:
            chosen = np.array([variant.choices[axis.decision] for variant in self.multiverse.variants], dtype=object)
            options: list[Value] = [value for value in axis.values if (chosen == value).any()]
            for value in options:
                at = chosen == value
                means = [_mean(column) for column in self.values[at].T]
                rows.append(
                    {
                        "decision": axis.decision,
                        "option": value,
                        "variants": int(at.sum()),
                        **dict(zip(self.multiverse.algorithms, means, strict=True)),
                    }
                )
        return pd.DataFrame(rows)


def _mean(values: Values) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def multiverse(
    run: ScoredRun | str | Path,
    vary: Sequence[str] = VARIED,
    *,
    metric_names: Sequence[str] | None = None,
    algorithms: Sequence[str] | None = None,
    budget: int = BUDGET,
    seed: int = 0,
    tell: Tell | None = None,
) -> Multiverse:
    """The numbers of a run's algorithms under many protocols, from its kept scores.

    vary     families of decisions (``ties``), decisions, or decisions with values (``relevance.threshold=3|4``)
    budget   how many variants at most; where there are more combinations, a designed sample of them is taken
             (:mod:`repro.explain.design`)

    >>> found = repro.explain.multiverse("run", ["ties.break=item-asc|item-desc", "metric.ndcg.gain"])
    >>> wins = found.of("ndcg@10").wins()  # of each algorithm, the share of the protocols in which it is best
    >>> list(wins.index)
    ['popularity', 'knn', 'EASE']
    """
    kept = run if isinstance(run, ScoredRun) else ScoredRun.open(run)
    names = tuple(metric_names or dict.fromkeys(measure.name for measure in kept.run.measures))
    axes = read_axes(vary, kept.protocol, kept.plan.interactions.ratings)
    if not axes:
        raise StudyError(f"nothing is varied: {', '.join(vary) or 'no decision'} has no other options to try")
    design = Design(kept.protocol, axes, budget, seed)
    variants = design.variants()
    axes = axes_met(axes, variants)  # before the work is done: what cannot be had is told
    found = measure_variants(kept, [variant.protocol for variant in variants], names, algorithms, tell)
    for name in names:
        if (0, name) in found.refusals:
            raise StudyError(f"the study's own protocol has no {name}: {found.refusals[0, name]}")
    refused: dict[str, dict[str, int]] = {}
    for (_, name), why in found.refusals.items():
        counts = refused.setdefault(name, {})
        counts[why] = counts.get(why, 0) + 1
    good = [n for n in range(len(variants)) if any((n, name) not in found.refusals for name in names)]
    known = metrics()
    return Multiverse(
        study=kept.study.question or kept.run.folder.name,
        axes=tuple(axes),
        variants=tuple(variants[number] for number in good),
        algorithms=found.algorithms,
        metrics=names,
        better={name: parse_measure(name, kept.protocol, known).metric.better for name in names},
        values=found.values[good],
        refused=refused,
        combinations=design.combinations,
        notes=kept.notes,
        complete=design.complete,
        seed=seed,
        journal=kept.run.journal.end.cited(),
        protocol=kept.protocol.hash,
    )
