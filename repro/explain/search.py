"""Search for the protocols that reproduce published numbers best.

The distance of a protocol is that of all cells of the table together, so that a single match by chance does not count.
The search starts from the run's own protocol and from the named protocols that come with repro, and never from
protocols inferred by audits. Around the nearest protocols it changes each decision alone, and then the two or three
decisions together whose combined effects are predicted to come nearest, until the budget is spent. Protocols with
fewer changes are preferred to slightly nearer ones: many unusual decisions together match any number by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from repro.current import once
from repro.errors import ProtocolError, StudyError
from repro.evaluation.metrics import Measure, metrics, parse_measure, simple_measures
from repro.explain.design import Design, read_axes
from repro.explain.interpolate import Change, changes
from repro.explain.published import Published
from repro.explain.scored_run import ScoredRun
from repro.explain.variants import measure_variants
from repro.protocol import OF_LISTS, Protocol, Value, protocol_names, registry
from repro.types import Progress

BUDGET = 3000
SHOWN = 10
_COMBINED = 50  # single changes whose effects are combined
_PREDICTED = 50  # predicted combinations to try
_CHANGE_PENALTY = 2.0  # the factor by which a protocol must be nearer for every additional change
_TOLERANCE = 1e-12  # for comparisons of distances

_Changes = tuple[tuple[str, Value], ...]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A protocol with its numbers for the published cells, and its differences from the run's own protocol.

    residual  the root mean square deviation of the numbers from the published ones
    fits      whether all numbers round to the printed digits
    """

    protocol: Protocol
    values: tuple[float, ...]
    residual: float
    fits: bool
    changes: tuple[Change, ...]


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The nearest protocols, the nearest first.

    own            the run's own protocol
    tried          the number of protocols tried
    fitting        how many of them give all printed digits
    equally_near   how many of them are as near as the first
    notes          remarks
    """

    cells: tuple[Published, ...]
    nearest: tuple[Candidate, ...]
    own: Candidate
    tried: int
    fitting: int
    equally_near: int
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """All fields as JSON-compatible data."""
        return {
            "cells": [vars(cell) for cell in self.cells],
            "tried": self.tried,
            "fitting": self.fitting,
            "equally_near": self.equally_near,
            "notes": list(self.notes),
            "own": _plain(self.own),
            "nearest": [_plain(fit) for fit in self.nearest],
        }


def _plain(fit: Candidate) -> dict[str, object]:
    return {
        "protocol": fit.protocol.hash[:12],
        "residual": fit.residual,
        "fits": fit.fits,
        "values": list(fit.values),
        "changes": {change.decision: change.after for change in fit.changes},
    }


def find_protocols(
    run: ScoredRun | str | Path,
    cells: Sequence[Published],
    vary: Sequence[str] | None = None,
    *,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> SearchResult:
    """Find the protocols under which the stored scores of a run come nearest to published numbers.

    vary      the decisions to search: families or decisions; by default all decisions about evaluation, and the
              variants of the metrics of the cells
    budget    the approximate number of protocols to try
    progress  receives the progress
    """
    scored = run if isinstance(run, ScoredRun) else ScoredRun.open(run)
    names = list(dict.fromkeys(cell.metric for cell in cells))
    measures = [parse_measure(name, scored.protocol, metrics()) for name in names]
    return _Search(scored, cells, vary or bearing_on(measures), budget, progress).result()


def bearing_on(measures: Iterable[Measure]) -> list[str]:
    """The families of decisions that affect these measures: those of their kinds, and their own variants."""
    decisions, simple = registry(), simple_measures(measures)
    families: list[str] = []
    if any(measure.metric.kind != "prediction" for measure in simple):
        families += [decisions[key].family for key in decisions.of_stages(*OF_LISTS)]
    if any(measure.metric.kind == "prediction" for measure in simple):
        families.append("predict")
    families += [f"metric.{measure.metric.name}" for measure in (*measures, *simple)]
    return [family for family in dict.fromkeys(families) if decisions.family(family)]


@once
def _loaded(names: tuple[str, ...]) -> tuple[Protocol, ...]:
    """Load protocols by name, once for many searches."""
    return tuple(map(Protocol.load, names))


class _Tried(NamedTuple):
    """A protocol that was tried, its numbers for the cells, and their distance."""

    protocol: Protocol
    values: npt.NDArray[np.float64]
    residual: float


class _Search:
    """A best-first search over protocols."""

    def __init__(
        self,
        run: ScoredRun,
        cells: Sequence[Published],
        vary: Sequence[str],
        budget: int,
        progress: Progress | None,
    ) -> None:
        self._run, self._cells, self._budget, self._progress = run, tuple(cells), budget, progress
        self._metrics = list(dict.fromkeys(cell.metric for cell in cells))
        self._labels = [label for label in run.algorithms if any(cell.algorithm == label for cell in cells)]
        self._axes = read_axes(vary, run.protocol, run.plan.interactions.ratings)
        self._tried: dict[str, _Tried] = {}

    def result(self) -> SearchResult:
        self._require_numbers()
        steps = dict.fromkeys((protocol.hash for protocol in self._try(self._starting_points())), 0)
        explored: set[str] = set()
        centre: Protocol | None = self._run.protocol
        while centre is not None and len(self._tried) < self._budget:
            explored.add(centre.hash)
            neighbours = self._neighbours(centre)
            self._try(list(neighbours.values()))
            combined = self._predicted(centre, neighbours)
            self._try(list(combined.values()))
            for change, protocol in (*neighbours.items(), *combined.items()):
                steps[protocol.hash] = min(steps.get(protocol.hash, 99), steps[centre.hash] + len(change))
            centre = self._next_centre(steps, explored)
        return self._summary()

    def _require_numbers(self) -> None:
        """Raise an error for cells that have no number under the run's own protocol."""
        self._try([self._run.protocol])
        for cell, value in zip(self._cells, self._tried[self._run.protocol.hash].values, strict=True):
            if not math.isfinite(value):
                raise StudyError(
                    f"{cell.algorithm} has no {cell.metric} in this run (it predicts no ratings, or the run did not "
                    "measure predictions); omit the number, or run the study with that metric"
                )

    def _next_centre(self, steps: Mapping[str, int], explored: set[str]) -> Protocol | None:
        """The next protocol to explore: near, few changes away, and with numbers that no explored protocol has.

        Every other time it is one of the protocols that the search started from, as long as there are any.
        """

        def priority(tried: _Tried) -> tuple[bool, bool, float, str]:
            n_changes = steps[tried.protocol.hash]
            distance = (tried.residual + _TOLERANCE) * _CHANGE_PENALTY**n_changes
            return (
                tried.values.tobytes() in explored_values,
                bool(len(explored) % 2 and n_changes),
                distance,
                tried.protocol.hash,
            )

        explored_values = {self._tried[key].values.tobytes() for key in explored}
        unexplored = [
            tried for key, tried in self._tried.items() if key not in explored and math.isfinite(tried.residual)
        ]
        return min(unexplored, key=priority).protocol if unexplored else None

    def _neighbours(self, centre: Protocol) -> dict[_Changes, Protocol]:
        """The protocols that differ from ``centre`` in one decision."""
        single = [((axis.decision, value),) for axis in self._axes for value in axis.values]
        return self._protocols(centre, single)

    def _predicted(self, centre: Protocol, neighbours: Mapping[_Changes, Protocol]) -> dict[_Changes, Protocol]:
        """Combinations of two or three changes that are predicted to come near.

        The prediction multiplies the factors by which each change alone changes the numbers.
        """
        centre_values = self._tried[centre.hash].values
        numbers = {change: self._tried[protocol.hash].values for change, protocol in neighbours.items()}
        # Changes without effect, or with the same effect as another change, are dropped.
        different = {values.tobytes(): change for change, values in reversed(numbers.items())}
        different.pop(centre_values.tobytes(), None)
        single_changes = [change for change in different.values() if np.isfinite(numbers[change]).all()]
        single_changes = sorted(single_changes, key=lambda change: self._residual(numbers[change]))[:_COMBINED]
        if len(single_changes) < 2:
            return {}
        factors = np.array(
            [numbers[change] / np.where(centre_values > 0, centre_values, 1.0) for change in single_changes]
        )
        combined: list[tuple[float, _Changes]] = []
        for size in (2, 3):
            chosen = np.array(list(combinations(range(len(single_changes)), size)), dtype=np.intp).reshape(-1, size)
            expected = centre_values * factors[chosen].prod(axis=1)
            deviations = np.sqrt(np.mean((expected - [cell.value for cell in self._cells]) ** 2, axis=1))
            for number in np.argsort(deviations, kind="stable")[: 4 * _PREDICTED]:
                change = tuple(single_changes[index][0] for index in chosen[number])
                if len({decision for decision, _ in change}) == size:
                    combined.append((float(deviations[number]) * _CHANGE_PENALTY**size, change))
        combined.sort(key=lambda protocol: protocol[0])
        return self._protocols(centre, [change for _, change in combined[:_PREDICTED]])

    def _protocols(self, centre: Protocol, changes_wanted: Iterable[_Changes]) -> dict[_Changes, Protocol]:
        """The protocols with these changes, without those that are equal to ``centre`` or contradictory."""
        design = Design(centre, self._axes, 1)
        protocols: dict[_Changes, Protocol] = {}
        for change in changes_wanted:
            try:
                protocol = design.protocol(dict(change))
            except ProtocolError:
                continue
            if protocol.hash != centre.hash:
                protocols[change] = protocol
        return protocols

    def _starting_points(self) -> list[Protocol]:
        """The run's own protocol, and the evaluation decisions of the named protocols that come with repro."""
        protocols, run_protocol = [self._run.protocol], self._run.protocol
        varied = {axis.decision for axis in self._axes}
        for bundled in _loaded(tuple(name for name in protocol_names() if "/" not in name)):
            values = {key: value for key, value in bundled.items() if key in varied}
            try:
                protocols.append(Design(run_protocol, self._axes, 1).protocol(values))
            except ProtocolError:
                continue
        return protocols

    def _try(self, protocols: Sequence[Protocol]) -> Sequence[Protocol]:
        """Measure the protocols that are new; returns ``protocols``."""
        new = {protocol.hash: protocol for protocol in protocols if protocol.hash not in self._tried}
        if not new:
            return protocols
        untried = list(new.values())
        numbers = measure_variants(self._run, untried, self._metrics, self._labels, self._progress)
        for row, protocol in enumerate(untried):
            values = np.array(
                [
                    numbers.values[row, self._labels.index(cell.algorithm), self._metrics.index(cell.metric)]
                    for cell in self._cells
                ]
            )
            self._tried[protocol.hash] = _Tried(protocol, values, self._residual(values))
        return protocols

    def _residual(self, values: npt.NDArray[np.float64]) -> float:
        deviations = values - [cell.value for cell in self._cells]
        return float(np.sqrt(np.mean(deviations**2))) if np.isfinite(deviations).all() else math.inf

    def _fits(self, values: npt.NDArray[np.float64]) -> bool:
        return all(
            abs(value - cell.value) <= cell.slack + _TOLERANCE for value, cell in zip(values, self._cells, strict=True)
        )

    def _ordered(self) -> list[_Tried]:
        """The protocols tried, the nearest first; among equals, those with fewer changes to the run's own protocol."""
        run_protocol = self._run.protocol

        def order(tried: _Tried) -> tuple[bool, float, int, str]:
            rounded = round(tried.residual, 12) if math.isfinite(tried.residual) else math.inf
            return (
                not self._fits(tried.values),
                rounded,
                len(changes(run_protocol, tried.protocol)),
                tried.protocol.hash,
            )

        return sorted(self._tried.values(), key=order)

    def _summary(self) -> SearchResult:
        ordered = self._ordered()
        least = ordered[0].residual
        return SearchResult(
            cells=self._cells,
            nearest=tuple(map(self._candidate, ordered[:SHOWN])),
            own=self._candidate(self._tried[self._run.protocol.hash]),
            tried=len(ordered),
            fitting=sum(self._fits(tried.values) for tried in ordered),
            equally_near=sum(abs(tried.residual - least) <= _TOLERANCE for tried in ordered),
            notes=self._run.notes,
        )

    def _candidate(self, tried: _Tried) -> Candidate:
        differing = tuple(changes(self._run.protocol, tried.protocol))
        return Candidate(
            tried.protocol, tuple(tried.values.tolist()), tried.residual, self._fits(tried.values), differing
        )
