"""Bounds of metrics: the values of the best and the worst ranking of the candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from repro.data.interactions import FloatArray
from repro.errors import ReproError
from repro.evaluation.metrics import metrics, parse_measure
from repro.explanations import ScoredRun
from repro.explanations.refits import fit_key
from repro.explanations.scored_run import RunFold
from repro.explanations.variants import measure_variants
from repro.grouping import grouped
from repro.plugin import Scores
from repro.protocol import Protocol
from repro.replications.claim_runs import Runs
from repro.replications.claims.printed import Printed, Rounding
from repro.study import make_plan

BEST, WORST = "best", "worst"
# Metrics that never decrease when a relevant item moves up.
MONOTONE = ("precision", "recall", "f1", "hit", "ap", "rr", "arhr", "ndcg", "rbp", "auc", "bpref")
DRAWS = 5  # random splits to evaluate, since the source used another draw


@dataclass(frozen=True, eq=False)
class Oracle(ScoredRun):
    """Scores made from the held-out ratings: they give the best possible order of every list, and the worst."""

    @property
    def algorithms(self) -> tuple[str, ...]:
        return BEST, WORST

    def scores(self, label: str, fold: RunFold) -> Scores:
        """Scores that put held-out items above all others by their ratings, or below all others in reverse."""
        test, users = fold.parts.test, fold.test_users
        ratings = test.ratings - test.ratings.min() + 1.0
        values = np.zeros((len(users), fold.parts.whole.n_items))
        values[np.searchsorted(users, test.users), test.items] = ratings if label == BEST else -ratings
        return Scores(values)

    def predictions(self, label: str, fold: str) -> Scores | None:
        return None


@dataclass(frozen=True)
class Bounds:
    """The values of the worst and of the best ranking, one for each draw."""

    worst: tuple[float, ...]
    best: tuple[float, ...]

    def beyond(self, printed: Printed, rounding: Rounding, metric: str) -> str:
        """The reason why no ranking gives the printed number; empty if one may give it.

        The source drew another random split or other candidates: the bounds are widened by the range of the draws.
        """
        low, high = rounding.interval(printed)
        if low > _widened(self.best, 1):
            return (
                f"no ranking of these candidates reaches {printed.text}: with all relevant items at the top, {metric} "
                f"is {_range(self.best, printed)}"
            )
        if high < _widened(self.worst, -1):
            return (
                f"no ranking of these candidates is as low as {printed.text}: with all relevant items at the end, "
                f"{metric} is {_range(self.worst, printed)}"
            )
        return ""


def _widened(values: Sequence[float], sign: int) -> float:
    furthest = max(sign * value for value in values)
    return sign * (furthest + (max(values) - min(values))) + sign * 1e-9


def _range(values: Sequence[float], printed: Printed) -> str:
    low, high = printed.shown(min(values)), printed.shown(max(values))
    return low if low == high else f"{low} to {high} over {len(values)} random draws"


def bounds(runs: Runs, protocols: Sequence[Protocol], names: Sequence[str]) -> dict[str, Bounds]:
    """The bounds of the metrics that have bounds under all of the protocols.

    A metric has none if lists may be excluded or end early, because a system could then gain by not scoring items.
    """
    ranked = [name for name in names if all(_is_bounded(protocol, name) for protocol in protocols)]
    if not ranked:
        return {}
    fits, first = grouped(protocols, fit_key), runs.seeds[0]
    reached: dict[str, list[tuple[float, float]]] = {name: [] for name in ranked}
    for seed in (first, *range(first + 1, first + DRAWS)):
        try:
            values = np.concatenate([_extremes(runs, sharing_fit, ranked, seed) for sharing_fit in fits.values()])
        except ReproError:
            return {}
        for column, name in enumerate(ranked):
            reached[name].append((float(values[:, 0, column].max()), float(values[:, 1, column].min())))
    return {
        name: Bounds(tuple(worst for _, worst in both), tuple(best for best, _ in both))
        for name, both in reached.items()
        if np.isfinite(both).all()
    }


def _is_bounded(protocol: Protocol, name: str) -> bool:
    short = protocol["missing.rank"] == "drop" or protocol["average.no_list"] != "zero"
    if short or str(protocol["ties.break"]).startswith("shared"):
        return False
    try:
        return parse_measure(name, protocol, metrics()).metric.name in MONOTONE
    except ReproError:
        return False


def _extremes(runs: Runs, protocols: Sequence[Protocol], names: Sequence[str], seed: int) -> FloatArray:
    """The values of the best and the worst ranking under protocols that share a fit: protocol x ranking x metric."""
    with runs.environment():
        plan = make_plan(runs.claim.study(protocols[0], names, seed, runs.runnable, runs.runnable), to_fit=False)
    return measure_variants(Oracle(cast(Any, None), plan), protocols, names, (BEST, WORST)).values
