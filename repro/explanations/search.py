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
from decimal import Decimal, InvalidOperation
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from repro.current import once
from repro.errors import ProtocolError, StudyError, nearest
from repro.evaluation.metrics import Measure, MetricName, metric_text, metrics, parse_measure, simple_measures
from repro.explanations.design import Design, read_axes
from repro.explanations.interpolate import Change, changes
from repro.explanations.scored_run import ScoredRun
from repro.explanations.variants import measure_variants
from repro.progress import Shown, progress_reporter
from repro.protocol import OF_LISTS, Protocol, Value, protocol_names, registry
from repro.runs.run import Run
from repro.types import Progress

BUDGET = 3000
SHOWN = 10
_COMBINED = 50  # single changes whose effects are combined
_PREDICTED = 50  # predicted combinations to try
_CHANGE_PENALTY = 2.0  # the factor by which a protocol must be nearer for every additional change
_TOLERANCE = 1e-12  # for comparisons of distances

_Changes = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Published:
    """A printed number: the metric of an algorithm, with its number of decimals."""

    algorithm: str
    metric: str
    value: float
    decimals: int

    @property
    def slack(self) -> float:
        """The largest distance of a number that rounds to these digits."""
        return 0.5 * 10.0**-self.decimals


def read_published(
    texts: Iterable[str], metric_names: Sequence[str], algorithms: Sequence[str], labels: Sequence[str]
) -> list[Published]:
    """Read cells from text: numbers in the order of the algorithms, ``0.199,0.033``, or named, ``item-knn=0.199``.

    The first text is for the first metric, and so on; a text may name its metric, ``ndcg@10: 0.199,0.033``. A number
    has as many decimals as are printed: 0.20 has two. A dash stands for a missing number.
    """
    unnamed = list(metric_names)
    cells: dict[tuple[str, str], Published] = {}
    for text in texts:
        before, colon, after = text.rpartition(":")
        if not colon and not unnamed:
            raise StudyError(
                f"there are more rows of numbers than metrics ({', '.join(metric_names)}); name a "
                "metric with -m for each, or write 'ndcg@10: 0.199,0.033'"
            )
        name = before.strip() if colon else unnamed.pop(0)
        for label, number in _row(after, algorithms):
            if label not in labels:
                raise StudyError(
                    f"there is no algorithm '{label}'{nearest(label, labels)} Algorithms: {', '.join(labels)}"
                )
            if number in ("-", ""):
                continue
            if (label, name) in cells:
                raise StudyError(f"there are two numbers for {name} of {label}; give a single one")
            cells[label, name] = Published(label, name, *_number(number))
    if not cells:
        raise StudyError("no published number is given; write them as --find 0.199,0.033,0.280")
    return list(cells.values())


def _row(text: str, algorithms: Sequence[str]) -> list[tuple[str, str]]:
    """The algorithms and numbers of a row: all named, or all in the order of the algorithms."""
    pieces = [piece.strip() for piece in text.split(",")]
    if any("=" in piece for piece in pieces):
        if any("=" not in piece and piece not in ("-", "") for piece in pieces):
            raise StudyError(f"'{text.strip()}': name all numbers, as in '{algorithms[0]}=0.199', or none of them")
        named = [piece.rpartition("=") for piece in pieces if "=" in piece]
        return [(label.strip(), number.strip()) for label, _, number in named]
    if len(pieces) > len(algorithms):
        raise StudyError(
            f"there are {len(pieces)} numbers for {len(algorithms)} algorithms "
            f"({', '.join(algorithms)}); name them, as in '{algorithms[0]}=0.199'"
        )
    return list(zip(algorithms, pieces, strict=False))


def _number(written: str) -> tuple[float, int]:
    try:
        exact = Decimal(written)
        exponent = exact.as_tuple().exponent
    except InvalidOperation:
        exponent = "n"
    if not isinstance(exponent, int):
        raise StudyError(f"'{written}' is not a number; write it as it is printed, such as 0.199")
    return float(exact), max(0, -exponent)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A protocol with its numbers for the published cells, and its differences from the run's own protocol.

    residual  the root mean square deviation of the numbers from the published ones; infinite if a number is missing
    fits      whether all numbers round to the printed digits
    """

    protocol: Protocol
    values: npt.NDArray[np.float64]
    residual: float
    fits: bool
    changes: tuple[Change, ...]

    def to_dict(self) -> dict[str, object]:
        """The candidate as JSON-compatible data."""
        return {
            "protocol": self.protocol.hash[:12],
            "residual": self.residual,
            "fits": self.fits,
            "values": self.values.tolist(),
            "changes": {change.decision: change.after for change in self.changes},
        }


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
            "own": self.own.to_dict(),
            "nearest": [candidate.to_dict() for candidate in self.nearest],
        }


def find_protocols(
    run: ScoredRun | Run | str | Path,
    published: Sequence[Published] | Mapping[MetricName, Mapping[str, str]],
    vary: Sequence[str] | None = None,
    *,
    data: object = None,
    budget: int = BUDGET,
    progress: Shown = True,
) -> SearchResult:
    """Find the protocols under which the stored scores of a run come nearest to published numbers.

    run        a run with stored scores (`repro run --keep-scores`), or its folder
    published  the numbers of each metric, by the labels of algorithms, as text with all printed digits: 0.20 has two
    vary       the decisions to search: families or decisions; by default all decisions about evaluation, and the
               variants of the metrics of the numbers
    data       the data of the run, or its path, if it has moved or was given in code
    budget     the approximate number of protocols to try
    progress   whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    Returns a :class:`repro.explanations.SearchResult`: ``nearest`` has the nearest protocols, and ``fitting`` is how
    many give all printed digits.

    >>> result = repro.find_protocols("run", {"ndcg@10": {"popularity": "0.62", "knn": "0.22"}}, ["ties"], budget=20)
    >>> len(result.cells), result.tried > 1
    (2, True)
    """
    scored = ScoredRun.open(run, data)
    if isinstance(published, Mapping):
        by_name = {metric_text(metric): numbers for metric, numbers in published.items()}
        published = _cells(by_name, scored.algorithms)
    cells = published
    names = list(dict.fromkeys(cell.metric for cell in cells))
    measures = [parse_measure(name, scored.protocol, metrics()) for name in names]
    with progress_reporter(progress) as report_progress:
        return _Search(scored, cells, vary or bearing_on(measures), budget, report_progress).result()


def _cells(published: Mapping[str, Mapping[str, str]], labels: Sequence[str]) -> list[Published]:
    """Numbers by metric and algorithm."""
    for metric, numbers in published.items():
        if not isinstance(numbers, Mapping) or not all(isinstance(number, str) for number in numbers.values()):
            raise StudyError(
                f"the numbers of {metric} must be text by algorithm, such as {{'{labels[0]}': '0.20'}}: their digits "
                "say how exact they are"
            )
    texts = [
        f"{metric}: {','.join(f'{label}={number}' for label, number in numbers.items())}"
        for metric, numbers in published.items()
    ]
    return read_published(texts, [], labels, labels)


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
        self._published = np.array([cell.value for cell in cells])
        self._tried: dict[str, Candidate] = {}

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

        def priority(key: str) -> tuple[bool, bool, float, str]:
            candidate, n_changes = self._tried[key], steps[key]
            distance = (candidate.residual + _TOLERANCE) * _CHANGE_PENALTY**n_changes
            return candidate.values.tobytes() in explored_values, bool(len(explored) % 2 and n_changes), distance, key

        explored_values = {self._tried[key].values.tobytes() for key in explored}
        keys = self._tried.keys() - explored
        unexplored = [key for key in keys if math.isfinite(self._tried[key].residual)]
        return self._tried[min(unexplored, key=priority)].protocol if unexplored else None

    def _neighbours(self, centre: Protocol) -> dict[_Changes, Protocol]:
        """The protocols that differ from ``centre`` in one decision."""
        return self._protocols(centre, [((axis.decision, value),) for axis in self._axes for value in axis.values])

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
            deviations = np.sqrt(np.mean((expected - self._published) ** 2, axis=1))
            for number in np.argsort(deviations, kind="stable")[: 4 * _PREDICTED]:
                change = tuple(single_changes[index][0] for index in chosen[number])
                if len({decision for decision, _ in change}) == size:
                    combined.append((float(deviations[number]) * _CHANGE_PENALTY**size, change))
        combined.sort(key=lambda predicted: predicted[0])
        return self._protocols(centre, [change for _, change in combined[:_PREDICTED]])

    def _protocols(self, centre: Protocol, requested: Iterable[_Changes]) -> dict[_Changes, Protocol]:
        """The protocols with these changes, without those that are equal to ``centre`` or contradictory."""
        design = Design(centre, self._axes, 1)
        protocols: dict[_Changes, Protocol] = {}
        for change in requested:
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
        numbers = measure_variants(self._run, untried, self._metrics, self._labels, self._progress).values
        rows = [self._labels.index(cell.algorithm) for cell in self._cells]
        columns = [self._metrics.index(cell.metric) for cell in self._cells]
        for protocol, values in zip(untried, numbers[:, rows, columns], strict=True):
            near = np.abs(values - self._published) <= [cell.slack + _TOLERANCE for cell in self._cells]
            differing = tuple(changes(self._run.protocol, protocol))
            candidate = Candidate(protocol, values, self._residual(values), bool(near.all()), differing)
            self._tried[protocol.hash] = candidate
        return protocols

    def _residual(self, values: npt.NDArray[np.float64]) -> float:
        deviations = values - self._published
        return float(np.sqrt(np.mean(deviations**2))) if np.isfinite(deviations).all() else math.inf

    def _summary(self) -> SearchResult:
        """The protocols tried, the nearest first; among equals, those with fewer changes to the run's own protocol."""

        def order(candidate: Candidate) -> tuple[bool, float, int, str]:
            residual = round(candidate.residual, 12) if math.isfinite(candidate.residual) else math.inf
            return not candidate.fits, residual, len(candidate.changes), candidate.protocol.hash

        ordered = sorted(self._tried.values(), key=order)
        return SearchResult(
            cells=self._cells,
            nearest=tuple(ordered[:SHOWN]),
            own=self._tried[self._run.protocol.hash],
            tried=len(ordered),
            fitting=sum(candidate.fits for candidate in ordered),
            equally_near=sum(abs(candidate.residual - ordered[0].residual) <= _TOLERANCE for candidate in ordered),
            notes=self._run.notes,
        )
