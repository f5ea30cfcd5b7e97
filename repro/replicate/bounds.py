"""What the best and the worst ranking of the candidates reach: a number beyond is no ranking's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from repro.data.interactions import FloatArray
from repro.errors import ReproError
from repro.evaluation.metrics import metrics, parse_measure
from repro.explain import ScoredRun
from repro.explain.scored_run import RunFold
from repro.explain.variants import measure_variants
from repro.plugin import Scores
from repro.protocol import Protocol
from repro.replicate.digits import Digits
from repro.replicate.printed import Printed
from repro.replicate.runs import Key, Runs, fit_key
from repro.study import make_plan

BEST, WORST = "best", "worst"
# Metrics that relevant items further up can only raise.
RANKED = ("precision", "recall", "f1", "hit", "ap", "rr", "arhr", "ndcg", "rbp", "auc", "bpref")
DRAWS = 5  # splits that are made, as that of the source is another draw


@dataclass(frozen=True, eq=False)
class Oracle(ScoredRun):
    """Scores that know the held-out ratings: the best order of every list there may be, and the worst."""

    @property
    def algorithms(self) -> tuple[str, ...]:
        return BEST, WORST

    def scores(self, label: str, fold: RunFold) -> Scores:
        """Held-out items by their ratings above all others, or by them in reverse below all others."""
        test, users = fold.parts.test, fold.test_users
        ratings = test.ratings - test.ratings.min() + 1.0
        values = np.zeros((len(users), fold.parts.whole.n_items))
        values[np.searchsorted(users, test.users), test.items] = ratings if label == BEST else -ratings
        return Scores(values)

    def predictions(self, label: str, fold: str) -> Scores | None:
        return None


@dataclass(frozen=True)
class Bounds:
    """What the worst and the best ranking reach, draw by draw."""

    worst: tuple[float, ...]
    best: tuple[float, ...]

    def beyond(self, printed: Printed, digits: Digits, metric: str) -> str:
        """Why no ranking gives the printed number, in words; empty where one might.

        A split or candidates that are drawn are others in the source: as much again as the draws here differ is
        allowed for.
        """
        most, least = _end(self.best, 1), _end(self.worst, -1)
        if digits.low(printed) > most:
            return (
                f"no ranking of these candidates reaches {printed.text}: with all relevant items in front, {metric} is "
                f"{_range(self.best, printed)}"
            )
        if digits.high(printed) < least:
            return (
                f"no ranking of these candidates is as low as {printed.text}: with all relevant items at the end, "
                f"{metric} is {_range(self.worst, printed)}"
            )
        return ""


def _end(values: Sequence[float], sign: int) -> float:
    furthest = max(sign * value for value in values)
    return sign * (furthest + (max(values) - min(values))) + sign * 1e-9


def _range(values: Sequence[float], printed: Printed) -> str:
    low, high = printed.shown(min(values)), printed.shown(max(values))
    return low if low == high else f"{low} to {high} over {len(values)} draws of what is drawn"


def bounds(runs: Runs, protocols: Sequence[Protocol], names: Sequence[str]) -> dict[str, Bounds]:
    """The bounds of the metrics that have some, whichever of the protocols it is.

    There are none where a list may be left out or end early, so that a system could shine by what it does not say.
    """
    ranked = [name for name in names if all(_is_bounded(protocol, name) for protocol in protocols)]
    if not ranked:
        return {}
    fits: dict[Key, list[Protocol]] = {}
    for protocol in protocols:
        fits.setdefault(fit_key(protocol), []).append(protocol)
    first = runs.seeds[0]
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ranked}
    for seed in (first, *range(first + 1, first + DRAWS)):
        try:
            values = np.concatenate([_ends(runs, those, ranked, seed) for those in fits.values()])
        except ReproError:
            return {}
        for column, name in enumerate(ranked):
            found[name].append((float(values[:, 0, column].max()), float(values[:, 1, column].min())))
    return {
        name: Bounds(tuple(worst for _, worst in both), tuple(best for best, _ in both))
        for name, both in found.items()
        if np.isfinite(both).all()
    }


def _is_bounded(protocol: Protocol, name: str) -> bool:
    short = protocol["missing.rank"] == "drop" or protocol["average.no_list"] != "zero"
    if short or str(protocol["ties.break"]).startswith("shared"):
        return False
    try:
        return parse_measure(name, protocol, metrics()).metric.name in RANKED
    except ReproError:
        return False


def _ends(runs: Runs, protocols: Sequence[Protocol], names: Sequence[str], seed: int) -> FloatArray:
    """What the best and the worst ranking reach under protocols that share a fit, by protocol, ranking and metric."""
    with runs.environment():
        plan = make_plan(runs.claim.study(protocols[0], names, seed, runs.able, runs.able), to_fit=False)
    return measure_variants(Oracle(cast(Any, None), plan), protocols, names, (BEST, WORST)).values
