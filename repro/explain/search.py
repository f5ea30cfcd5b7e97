"""Which protocol gives published numbers: a search over protocols by how near they come to all cells of a table.

One lucky hit does not count: all cells together say how near a protocol is. The search begins with the run's own
protocol and with every protocol that comes with the suite. Around those that came nearest it changes each decision
alone, and then those two or three together whose effects promise to come nearest; and so on, until its budget is
spent. Fewer changes are preferred to a little nearer: many odd decisions together come near to any number by chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from repro.current import once
from repro.errors import ProtocolError, StudyError, nearest
from repro.evaluation.metrics import Measure, metrics, parse_measure, simple_measures
from repro.explain.design import Design, read_axes
from repro.explain.mixing import Change, changes
from repro.explain.scored_run import ScoredRun
from repro.explain.variants import measure_variants
from repro.protocol import OF_LISTS, Protocol, Value, protocol_names, registry

BUDGET = 3000
SHOWN = 10
_COMBINED = 50  # changes whose effects are combined
_PROMISED = 50  # combinations of them that are tried
_DETOUR = 2.0  # how many times nearer a protocol must be for every further change
_EQUAL = 1e-12

Tell = Callable[[str, int, int], None]
_Changed = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Published:
    """A number as it was printed: of an algorithm, by a metric."""

    algorithm: str
    metric: str
    value: float
    decimals: int

    @property
    def slack(self) -> float:
        """How far off a number may be that is printed like this."""
        return 0.5 * 10.0**-self.decimals


@dataclass(frozen=True, eq=False)
class Fit:
    """A protocol, the numbers that it gives for the published cells, and how it differs from the run's own.

    residual  how far off the numbers are: the root of the mean of their squares
    fits      whether all numbers round to the printed digits
    """

    protocol: Protocol
    values: tuple[float, ...]
    residual: float
    fits: bool
    changes: tuple[Change, ...]


@dataclass(frozen=True, eq=False)
class Found:
    """The protocols that come nearest, the nearest first.

    tried          how many protocols were tried
    fitting        how many of them give all printed digits
    equally_near   how many of them are exactly as near as the first
    notes          what else is to be known
    """

    cells: tuple[Published, ...]
    nearest: tuple[Fit, ...]
    own: Fit
    tried: int
    fitting: int
    equally_near: int
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Everything as plain data."""
        return {
            "cells": [vars(cell) for cell in self.cells],
            "tried": self.tried,
            "fitting": self.fitting,
            "equally_near": self.equally_near,
            "notes": list(self.notes),
            "own": _plain(self.own),
            "nearest": [_plain(fit) for fit in self.nearest],
        }


def _plain(fit: Fit) -> dict[str, object]:
    return {
        "protocol": fit.protocol.hash[:12],
        "residual": fit.residual,
        "fits": fit.fits,
        "values": list(fit.values),
        "changes": {change.decision: change.after for change in fit.changes},
    }


def read_published(
    texts: Iterable[str], metric_names: Sequence[str], algorithms: Sequence[str], known: Sequence[str]
) -> list[Published]:
    """Cells from text: numbers in the order of the algorithms, ``0.199,0.033``, or named, ``item-knn=0.199``.

    The first text is of the first metric, and so on; a text may say its metric, ``ndcg@10: 0.199,0.033``. A number is
    as exact as it is printed: 0.20 has two decimals. A dash is no number.
    """
    unnamed = list(metric_names)
    cells: dict[tuple[str, str], Published] = {}
    for text in texts:
        before, colon, after = text.rpartition(":")
        if not colon and not unnamed:
            raise StudyError(
                f"there are more rows of numbers than metrics to give them to ({', '.join(metric_names)}); name a "
                "metric with -m for each, or write 'ndcg@10: 0.199,0.033'"
            )
        name = before.strip() if colon else unnamed.pop(0)
        for label, written in _row(after, algorithms):
            if label not in known:
                raise StudyError(
                    f"there is no algorithm '{label}'{nearest(label, known)} There are: {', '.join(known)}"
                )
            if written in ("-", ""):
                continue
            if (label, name) in cells:
                raise StudyError(f"there are two numbers for {name} of {label}; give one")
            cells[label, name] = Published(label, name, *_number(written))
    if not cells:
        raise StudyError("no published number is given; write them as --find 0.199,0.033,0.280")
    return list(cells.values())


def _row(text: str, algorithms: Sequence[str]) -> list[tuple[str, str]]:
    """The algorithms and numbers of one row: all named, or all in the order of the algorithms."""
    pieces = [piece.strip() for piece in text.split(",")]
    named = [tuple(part.strip() for part in piece.rpartition("=")[::2]) for piece in pieces if "=" in piece]
    if len(named) == len(pieces):
        return [(label, written) for label, written in named]
    if named and any("=" not in piece and piece not in ("-", "") for piece in pieces):
        raise StudyError(f"'{text.strip()}': name all numbers, as in '{algorithms[0]}=0.199', or none of them")
    if named:
        return [(label, written) for label, written in named]
    if len(pieces) > len(algorithms):
        raise StudyError(
            f"there are {len(pieces)} numbers, and {len(algorithms)} algorithms to give them to "
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
        raise StudyError(f"'{written}' is no number; write it as it is printed, such as 0.199")
    return float(exact), max(0, -exponent)


def find_protocols(
    run: ScoredRun | str | Path,
    cells: Sequence[Published],
    vary: Sequence[str] | None = None,
    *,
    budget: int = BUDGET,
    tell: Tell | None = None,
) -> Found:
    """The protocols under which the kept scores of a run come nearest to published numbers.

    vary     the decisions that are searched: families or decisions; by default all about evaluation, and the
             variants of the metrics asked for
    budget   how many protocols are tried, about
    """
    kept = run if isinstance(run, ScoredRun) else ScoredRun.open(run)
    names = list(dict.fromkeys(cell.metric for cell in cells))
    measures = [parse_measure(name, kept.protocol, metrics()) for name in names]
    return _Search(kept, cells, vary or bearing_on(measures), budget, tell).found()


def bearing_on(measures: Iterable[Measure]) -> list[str]:
    """The families of decisions that bear on these measures: those about their kinds, and their own variants."""
    known, simple = registry(), simple_measures(measures)
    families: list[str] = []
    if any(one.metric.kind != "prediction" for one in simple):
        families += [known[key].family for key in known.of_stages(*OF_LISTS)]
    if any(one.metric.kind == "prediction" for one in simple):
        families.append("predict")
    families += [f"metric.{one.metric.name}" for one in (*measures, *simple)]
    return [family for family in dict.fromkeys(families) if known.family(family)]


@once
def _loaded(names: tuple[str, ...]) -> tuple[Protocol, ...]:
    """The protocols of these names, read once for many searches."""
    return tuple(map(Protocol.load, names))


class _Tried(NamedTuple):
    protocol: Protocol
    values: npt.NDArray[np.float64]
    residual: float


class _Search:
    def __init__(
        self,
        run: ScoredRun,
        cells: Sequence[Published],
        vary: Sequence[str],
        budget: int,
        tell: Tell | None,
    ) -> None:
        self._run, self._cells, self._budget, self._tell = run, tuple(cells), budget, tell
        self._metrics = list(dict.fromkeys(cell.metric for cell in cells))
        self._labels = [label for label in run.algorithms if any(cell.algorithm == label for cell in cells)]
        self._axes = read_axes(vary, run.protocol, run.plan.interactions.ratings)
        self._tried: dict[str, _Tried] = {}

    def found(self) -> Found:
        self._require_numbers()
        steps = dict.fromkeys((one.hash for one in self._try(self._bundled())), 0)
        around: set[str] = set()
        centre: Protocol | None = self._run.protocol
        while centre is not None and len(self._tried) < self._budget:
            around.add(centre.hash)
            alone = self._neighbours(centre)
            self._try(list(alone.values()))
            together = self._promised(centre, alone)
            self._try(list(together.values()))
            for change, protocol in (*alone.items(), *together.items()):
                steps[protocol.hash] = min(steps.get(protocol.hash, 99), steps[centre.hash] + len(change))
            centre = self._promising(steps, around)
        return self._summary()

    def _require_numbers(self) -> None:
        """Refuse cells that have no number under the run's own protocol."""
        self._try([self._run.protocol])
        for cell, value in zip(self._cells, self._tried[self._run.protocol.hash].values, strict=True):
            if not math.isfinite(value):
                raise StudyError(
                    f"{cell.algorithm} has no {cell.metric} in this run (it predicts no ratings, or none were "
                    "measured); leave it out, or run the study with that metric"
                )

    def _promising(self, steps: Mapping[str, int], around: set[str]) -> Protocol | None:
        """The protocol that is to be looked around next: near, few steps away, and with numbers of its own.

        Every other time it is one of those that the search began with, as long as there are any.
        """

        def priority(tried: _Tried) -> tuple[bool, bool, float, str]:
            taken = steps[tried.protocol.hash]
            far = (tried.residual + _EQUAL) * _DETOUR**taken
            return tried.values.tobytes() in known, bool(len(around) % 2 and taken), far, tried.protocol.hash

        known = {self._tried[key].values.tobytes() for key in around}
        left = [one for key, one in self._tried.items() if key not in around and math.isfinite(one.residual)]
        return min(left, key=priority).protocol if left else None

    def _neighbours(self, centre: Protocol) -> dict[_Changed, Protocol]:
        """The protocols that differ from this one in one decision."""
        single = [((axis.decision, value),) for axis in self._axes for value in axis.values]
        return self._made(centre, single)

    def _promised(self, centre: Protocol, alone: Mapping[_Changed, Protocol]) -> dict[_Changed, Protocol]:
        """Two or three changes together that promise to come near, if each changes numbers by the same factor as it
        does alone."""
        here = self._tried[centre.hash].values
        numbers = {change: self._tried[one.hash].values for change, one in alone.items()}
        # Of changes that change nothing here, or the same as another one, there is nothing to be learnt.
        different = {values.tobytes(): change for change, values in reversed(numbers.items())}
        different.pop(here.tobytes(), None)
        singles = [change for change in different.values() if np.isfinite(numbers[change]).all()]
        singles = sorted(singles, key=lambda change: self._residual(numbers[change]))[:_COMBINED]
        if len(singles) < 2:
            return {}
        factors = np.array([numbers[change] / np.where(here > 0, here, 1.0) for change in singles])
        combined: list[tuple[float, _Changed]] = []
        for size in (2, 3):
            chosen = np.array(list(combinations(range(len(singles)), size)), dtype=np.intp).reshape(-1, size)
            expected = here * factors[chosen].prod(axis=1)
            off = np.sqrt(np.mean((expected - [cell.value for cell in self._cells]) ** 2, axis=1))
            for number in np.argsort(off, kind="stable")[: 4 * _PROMISED]:
                change = tuple(singles[place][0] for place in chosen[number])
                if len({decision for decision, _ in change}) == size:
                    combined.append((float(off[number]) * _DETOUR**size, change))
        combined.sort(key=lambda one: one[0])
        return self._made(centre, [change for _, change in combined[:_PROMISED]])

    def _made(self, centre: Protocol, wanted: Iterable[_Changed]) -> dict[_Changed, Protocol]:
        """The protocols with these changes, where they make another one that is no contradiction."""
        design = Design(centre, self._axes, 1)
        found: dict[_Changed, Protocol] = {}
        for change in wanted:
            try:
                made = design.protocol(dict(change))
            except ProtocolError:
                continue
            if made.hash != centre.hash:
                found[change] = made
        return found

    def _bundled(self) -> list[Protocol]:
        """The run's own protocol, and those that come with the suite, as far as they are about evaluation."""
        found, own = [self._run.protocol], self._run.protocol
        varied = {axis.decision for axis in self._axes}
        for theirs in _loaded(tuple(protocol_names())):
            values = {key: value for key, value in theirs.items() if key in varied}
            try:
                found.append(Design(own, self._axes, 1).protocol(values))
            except ProtocolError:
                continue
        return found

    def _try(self, protocols: Sequence[Protocol]) -> Sequence[Protocol]:
        """The same protocols, once their numbers are known."""
        new = {one.hash: one for one in protocols if one.hash not in self._tried}
        if not new:
            return protocols
        asked = list(new.values())
        numbers = measure_variants(self._run, asked, self._metrics, self._labels, self._tell)
        for place, protocol in enumerate(asked):
            values = np.array(
                [
                    numbers.values[place, self._labels.index(cell.algorithm), self._metrics.index(cell.metric)]
                    for cell in self._cells
                ]
            )
            self._tried[protocol.hash] = _Tried(protocol, values, self._residual(values))
        return protocols

    def _residual(self, values: npt.NDArray[np.float64]) -> float:
        off = values - [cell.value for cell in self._cells]
        return float(np.sqrt(np.mean(off**2))) if np.isfinite(off).all() else math.inf

    def _fits(self, values: npt.NDArray[np.float64]) -> bool:
        return all(
            abs(value - cell.value) <= cell.slack + _EQUAL for value, cell in zip(values, self._cells, strict=True)
        )

    def _ordered(self) -> list[_Tried]:
        """What was tried, the nearest first; of equally near ones, those that are nearer to the run's own protocol."""
        own = self._run.protocol

        def order(tried: _Tried) -> tuple[bool, float, int, str]:
            rounded = round(tried.residual, 12) if math.isfinite(tried.residual) else math.inf
            return not self._fits(tried.values), rounded, len(changes(own, tried.protocol)), tried.protocol.hash

        return sorted(self._tried.values(), key=order)

    def _summary(self) -> Found:
        ordered = self._ordered()
        least = ordered[0].residual
        return Found(
            cells=self._cells,
            nearest=tuple(map(self._fit, ordered[:SHOWN])),
            own=self._fit(self._tried[self._run.protocol.hash]),
            tried=len(ordered),
            fitting=sum(self._fits(one.values) for one in ordered),
            equally_near=sum(abs(one.residual - least) <= _EQUAL for one in ordered),
            notes=self._run.notes,
        )

    def _fit(self, tried: _Tried) -> Fit:
        differing = tuple(changes(self._run.protocol, tried.protocol))
        return Fit(tried.protocol, tuple(tried.values.tolist()), tried.residual, self._fits(tried.values), differing)
