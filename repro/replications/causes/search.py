"""The search for causes that explain many numbers of a table at once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from repro.data.interactions import FloatArray
from repro.errors import ReproError
from repro.evaluation.metrics import metrics, parse_measure
from repro.explanations.design import Axis, Design
from repro.explanations.refits import fit_key
from repro.explanations.variants import measure_variants
from repro.grouping import grouped
from repro.protocol import Protocol
from repro.replications.causes.arrangement import rearranged
from repro.replications.causes.cause import LEAST, Cause, Fit, IntArray, PrintedNumbers, fit, ordered
from repro.replications.causes.errors import ERRORS, EvaluationError, OtherMetric, other_metric_named, other_metrics
from repro.replications.causes.odds import LEVEL, probability
from repro.replications.claim_runs import Runs
from repro.replications.claims.claim import Cell
from repro.replications.settings.open_decisions import differences
from repro.replications.settings.watch import SearchWatch

CELLS = 4  # a smaller table is never explained by an error
ROUNDS = 3  # causes that may be found one after another
SETTINGS = 200  # settings of open decisions to try with each error


@dataclass(frozen=True, eq=False)
class TableGroup:
    """The cells under one protocol.

    base   the protocol that their numbers come from: the claim's own, or the setting of the open decisions that holds
    axes   open decisions of the evaluation, if no setting of them holds
    cells  the cells, by position in the table
    open   all open decisions: no error is sought in these
    """

    base: Protocol
    axes: tuple[Axis, ...]
    cells: IntArray
    open: frozenset[str] = frozenset()

    def with_error(self, error: EvaluationError) -> Protocol | None:
        """The base with an error; None if it is the same, or if the source leaves the decision open."""
        return None if error.changes.keys() & self.open else error.protocol(self.base)


@dataclass(frozen=True)
class Explanation:
    """A cause that explains numbers of a claim.

    met           the cells that it gives, by position
    values        the number that it gives for each of them
    off, held     how many numbers were in question, and how many are kept
    chance        the probability that some cause explains as many by chance
    causes        how many causes were tried
    alternatives  other causes that give the same number of numbers
    """

    cause: Cause
    met: tuple[int, ...]
    values: tuple[float, ...]
    off: int
    held: int
    chance: float
    causes: int
    alternatives: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The explanation in words."""
        kept = f", and keeps the {self.held} that it gives" if self.held else ""
        or_else = f"; as many are given by: {'; '.join(self.alternatives)}" if self.alternatives else ""
        return (
            f"{self.cause.name}: this gives {len(self.met)} of the {self.off} numbers that the claim's own setting "
            f"does not give{kept}; one of the {self.causes:,} causes that were tried gives as many by chance with "
            f"probability {self.chance:.2g}{or_else}"
        )


class CellTable:
    """The cells of a table in rows and columns, and the causes of their arrangement."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = cells

    @property
    def rows(self) -> list[str]:
        """The row of each cell: its algorithm."""
        return [cell.key.algorithm for cell in self.cells]

    @property
    def columns(self) -> list[str]:
        """The column of each cell: its metric, with what the cell alone decides."""
        return [replace(cell.key, algorithm="").sentence.replace(" of ", "", 1) for cell in self.cells]

    def explanations(self, decided: Sequence[Cause], table: PrintedNumbers) -> list[Explanation]:
        """The causes that explain the table, one after another, each on top of those before.

        They are among those of the evaluation (``decided``), and those of the arrangement of the table.
        """
        explanations: list[Explanation] = []
        while len(self.cells) >= CELLS and len(explanations) < ROUNDS:
            explanation = explain([*decided, *self._arranged(table)], table)
            if explanation is None:
                break
            explanations.append(explanation)
            table = table.with_cause(explanation.cause)
        return explanations

    def _arranged(self, table: PrintedNumbers) -> Iterator[Cause]:
        """Swapped and copied rows and columns: in the whole table, and in the part under each protocol."""
        parts = grouped(range(len(self.cells)), lambda cell: self.cells[cell].key.under)
        for cells in [range(len(self.cells)), *(parts.values() if len(parts) > 1 else ())]:
            places = np.array(cells, dtype=np.intp)
            rows, columns = ([lines[cell] for cell in cells] for lines in (self.rows, self.columns))
            for cause in rearranged(rows, columns, table.values[places]):
                yield replace(cause, cells=places[cause.cells])


class CauseSearch(CellTable):
    """Searches for causes of the numbers of ``cells``, which ``groups`` divide by their protocols."""

    def __init__(self, runs: Runs, cells: Sequence[Cell], groups: Sequence[TableGroup], watch: SearchWatch) -> None:
        super().__init__(cells)
        self.runs, self.groups, self.watch = runs, groups, watch
        self.notes: list[str] = []

    def find(self, table: PrintedNumbers) -> list[Explanation]:
        """The causes that explain the table."""
        if len(self.cells) < CELLS or table.off.sum() < LEAST:
            return []
        return self.explanations(list(self.decided(table)), table)

    def decided(self, table: PrintedNumbers) -> Iterator[Cause]:
        """Causes in the evaluation: errors, alone and with settings of the open decisions, and other metrics."""
        for error in ERRORS:
            if not error.tuned or self.runs.claim.tune is not None:
                yield from self._errors(error, table)
        self.watch.step("other metrics under the names of the table")
        yield from self._other_metrics(table)

    def fits(self) -> list[tuple[TableGroup, Protocol]]:
        """The fits that errors need, each with the group of cells that needs it first."""
        needed: dict[object, tuple[TableGroup, Protocol]] = {}
        for error in ERRORS:
            if error.needs_refit and (not error.tuned or self.runs.claim.tune is not None):
                for group in self.groups:
                    if (protocol := group.with_error(error)) is not None:
                        needed.setdefault(fit_key(protocol), (group, protocol))
        return list(needed.values())

    def _errors(self, error: EvaluationError, table: PrintedNumbers) -> Iterator[Cause]:
        """An error in the whole table, in one group of cells, for one algorithm, and for one column."""
        values = table.values.copy()
        with_settings: list[Cause] = []
        for group in self.groups:
            if (protocol := group.with_error(error)) is None:
                continue
            protocols = [protocol, *self._settings(group, protocol)]
            try:
                measured = self._measured(error, group, protocols)
            except ReproError as problem:
                self.notes.append(f'The cause "{error.name}" could not be tried: {problem}')
                continue
            values[group.cells] = measured[0]
            for setting, numbers in zip(protocols[1:], measured[1:], strict=True):
                name, known = f"{error.name}, with {differences(protocol, setting)}", np.isfinite(numbers)
                with_settings.append(Cause(name, error.kind, group.cells[known], numbers[known], changed=2))
        known = np.isfinite(values)
        affected, everything = np.flatnonzero(known & (values != table.values)), np.flatnonzero(known)
        if not len(affected):
            return
        yield Cause(error.name, error.kind, everything, values[everything])
        for scope, phrase in self._scopes(error):
            part = scope[known[scope]]
            if np.isin(part, affected).any() and len(part) < len(everything):
                yield Cause(f"{error.name}, {phrase}", error.kind, part, values[part], breadth=1)
        yield from with_settings

    def _scopes(self, error: EvaluationError) -> Iterator[tuple[IntArray, str]]:
        """Parts of the table that an error may be confined to, each with words."""
        if len(self.groups) > 1:
            for group in self.groups:
                under = self.cells[group.cells[0]].key.under or "the main protocol"
                yield group.cells, f"under {under} alone"
        for noun, lines in (("for", self.rows), ("in", self.columns)):
            if noun == "in" and error.needs_refit:
                continue  # one fit gives all metrics
            for line, cells in grouped(range(len(lines)), lines.__getitem__).items():
                yield np.array(cells, dtype=np.intp), f"{noun} {line} alone"

    def _settings(self, group: TableGroup, protocol: Protocol) -> list[Protocol]:
        """The protocol with each setting of the open decisions of the evaluation, without its own."""
        if not group.axes:
            return []
        variants = Design(protocol, group.axes, SETTINGS).variants()
        return [variant.protocol for variant in variants if variant.protocol.hash != protocol.hash]

    def _measured(self, error: EvaluationError, group: TableGroup, protocols: Sequence[Protocol]) -> FloatArray:
        """The numbers of a group of cells under protocols that share a fit: protocol x cell."""
        seed = self.runs.seeds[0]
        if error.needs_refit:
            began = time.monotonic()
            self.runs.refit(group.base, protocols[0])
            self.runs.scored_run(protocols[0], seed)
            self.watch.fitted(error.name, time.monotonic() - began)
        return self._numbers(group, protocols, [self.cells[cell].key.metric for cell in group.cells])

    def numbers_of(self, group: TableGroup) -> FloatArray:
        """The numbers of a group of cells under its base."""
        return self._numbers(group, [group.base], [self.cells[cell].key.metric for cell in group.cells])[0]

    def _numbers(self, group: TableGroup, protocols: Sequence[Protocol], names: Sequence[str]) -> FloatArray:
        """The numbers of the metrics ``names`` (one for each cell of the group) under each protocol."""
        run, distinct = self.runs.scored_run(protocols[0], self.runs.seeds[0]), list(dict.fromkeys(names))
        measured = measure_variants(run, protocols, distinct, None, self.watch.update)
        keys = [(self.rows[cell], name) for cell, name in zip(group.cells.tolist(), names, strict=True)]
        numbers = [measured.of(position) for position in range(len(protocols))]
        return np.array([[of_protocol.get(key, np.nan) for key in keys] for of_protocol in numbers])

    def _other_metrics(self, table: PrintedNumbers) -> Iterator[Cause]:
        """Another metric in one column, and in all columns of a metric."""
        by_family: dict[tuple[str, str], list[tuple[IntArray, FloatArray]]] = {}
        for group in self.groups:
            names = {cell: self.cells[cell].key.metric for cell in group.cells.tolist()}
            for name, cells in grouped(names, names.__getitem__).items():
                if not table.off[cells].any():
                    continue
                own = parse_measure(name, group.base, metrics())
                for other, values in self._columns_of(group, cells, other_metrics(name, group.base)):
                    scope = np.array(cells, dtype=np.intp)
                    if np.isfinite(values).all() and (values != table.values[scope]).any():
                        by_family.setdefault((own.metric.name, other.label), []).append((scope, values))
                        shown = other_metric_named(self.columns[cells[0]], other)
                        yield Cause(shown, "mistake", scope, values, breadth=1)
        for (own_name, label), parts in by_family.items():
            if len(parts) > 1:
                scope, values = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
                shown = f"another metric under the name: {own_name} is {label}"
                yield Cause(shown, "mistake", scope, values, breadth=1)

    def _columns_of(
        self, group: TableGroup, cells: Sequence[int], others: Sequence[OtherMetric]
    ) -> Iterator[tuple[OtherMetric, FloatArray]]:
        """Each of the other metrics with its values for the cells of a column."""
        run = self.runs.scored_run(group.base, self.runs.seeds[0])
        try:
            measured = measure_variants(run, [group.base], [other.name for other in others], None, self.watch.update)
        except ReproError as problem:
            self.notes.append(f"Other metrics could not be tried: {problem}")
            return
        numbers: Mapping[tuple[str, str], float] = measured.of(0)
        for other in others:
            yield other, np.array([numbers.get((self.rows[cell], other.name), np.nan) for cell in cells])


def explain(causes: Sequence[Cause], table: PrintedNumbers) -> Explanation | None:
    """The cause that explains a table best, if chance is an unlikely reason."""
    finite = [cause for cause in causes if np.isfinite(cause.values).all()]
    found = ordered([fit(cause, table) for cause in finite])
    if not found:
        return None
    best = found[0]
    chance = probability(finite, table, best.cause)
    if chance > LEVEL:
        return None
    values = dict(zip(best.cause.cells.tolist(), best.cause.values.tolist(), strict=True))
    return Explanation(
        cause=best.cause,
        met=tuple(best.met.tolist()),
        values=tuple(values[cell] for cell in best.met.tolist()),
        off=int(table.off.sum()),
        held=int(table.held.sum()),
        chance=chance,
        causes=len(finite),
        alternatives=tuple(_alternatives(best, found[1:])),
    )


def _alternatives(best: Fit, others: Sequence[Fit]) -> list[str]:
    """Other causes that give as many numbers and are as simple, without those that contain the best or are like it."""
    cause = best.cause
    alike = [each for each in others if len(each.met) == len(best.met) and each.cause.changed == cause.changed]
    return [each.cause.name for each in alike if cause.name not in each.cause.name][:3]
