"""Explanations of the printed numbers that the claim's own setting does not give: the search after the first verdicts.

The search looks for one setting of the open decisions, then for errors that explain many numbers at once, then for
limits that no ranking exceeds, and at last for the protocols that come nearest. It can be stopped at any time: a
verdict changes only when a step has found another one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from repro.errors import ReproError
from repro.explanations import Published, find_protocols
from repro.explanations.design import Axis
from repro.explanations.interpolate import changes
from repro.grouping import grouped
from repro.protocol import Protocol
from repro.replications.causes.cause import LEAST
from repro.replications.causes.search import CauseSearch, TableGroup
from repro.replications.claim_runs import Numbers
from repro.replications.claims.claim import Cell, Setting
from repro.replications.settings.chance import Choice, SettingsTable
from repro.replications.settings.open_decisions import REFITS, SETTINGS, OpenDecisions, differences, try_settings
from repro.replications.settings.watch import SearchWatch
from repro.replications.verdicts.cells import CellVerdicts, metrics_of
from repro.replications.verdicts.explained import give_cause, printed_numbers
from repro.replications.verdicts.judgement import FoundCause, Search

SEARCHED = 400  # protocols to try for numbers that differ

Group = tuple[Setting, list[Cell]]


@dataclass(frozen=True)
class Budget:
    """Limits of the search for what explains numbers that differ.

    settings  settings of the open decisions for each fit
    refits    settings of the open decisions that need another fit
    search    protocols that are tried for the nearest one
    seconds   how long the search may take
    causes    whether errors are tried, such as a leak or swapped rows
    off       whether there is no search
    """

    settings: int = SETTINGS
    refits: int = REFITS
    search: int = SEARCHED
    seconds: float | None = None
    causes: bool = True
    off: bool = False


@dataclass(frozen=True, eq=False)
class TriedPart:
    """The cells under one protocol, with their numbers under settings of its open decisions.

    number     the position of the protocol
    by_choice  each setting that was tried, by the values of the open decisions: its protocol, and all numbers
    """

    number: int
    claimed: Protocol
    cells: Sequence[Cell]
    by_choice: Mapping[Choice, tuple[Protocol, Numbers]]

    def numbers(self, choice: Choice) -> list[float]:
        """The numbers of the cells under a setting; NaN where it has none."""
        numbers = self.by_choice[choice][1]
        return [numbers.get((cell.key.algorithm, cell.key.metric), math.nan) for cell in self.cells]


@dataclass
class CellSearch:
    """The search for what explains the numbers of ``verdicts``, whose judgements it replaces."""

    verdicts: CellVerdicts
    budget: Budget
    watch: SearchWatch
    searches: list[Search] = field(default_factory=list)
    causes: list[FoundCause] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _bases: dict[int, Protocol] = field(default_factory=dict)

    @property
    def questioned(self) -> list[Cell]:
        """The cells that the claim's own setting does not give."""
        return [cell for cell, judgement in self.verdicts.by_digits.items() if judgement.verdict == "differs"]

    def run(self) -> None:
        """Run all steps, as long as there are numbers without an explanation."""
        if not self.questioned:
            return
        groups = [group for group in self.verdicts.groups if any(cell in self.verdicts.values for cell in group[1])]
        self._announce(groups, self.cause_search(groups))
        self._try_open(groups)
        if self.budget.causes:
            self._find_causes(self.cause_search(groups))
        for setting, cells in groups:
            self.verdicts.find_out_of_reach(setting, cells)
        for setting, cells in groups:
            self._find_nearest(setting, cells)

    def _announce(self, groups: Sequence[Group], causes: CauseSearch) -> None:
        """State how many fits the search needs, and how long they take if each takes as long as the first ones."""
        runs = self.verdicts.runs
        seconds = [
            runs.seconds(setting.protocol) * (len(self._fitted(setting)) - 1) for setting, _ in groups if setting.open
        ]
        fits = sum(len(self._fitted(setting)) - 1 for setting, _ in groups if setting.open)
        if self.budget.causes and len(self.questioned) >= LEAST:
            of_errors = causes.fits()
            seconds += [runs.seconds(group.base) for group, _ in of_errors]
            fits += len(of_errors)
        self.watch.begin(len(self.questioned), fits, math.fsum(seconds))

    def _fitted(self, setting: Setting) -> list[Protocol]:
        return OpenDecisions.of(setting).fits(setting.protocol, self.budget.refits)[0]

    def _try_open(self, groups: Sequence[Group]) -> None:
        """Find the one setting of the open decisions that gives the numbers.

        Where the same decisions are open under several protocols, one setting is sought for all of them, and, if none
        holds, one for each.
        """
        opened = [number for number, (setting, _) in enumerate(groups) if setting.open]
        for names, numbers in grouped(opened, lambda number: groups[number][0].open).items():
            if not any(cell in self.questioned for number in numbers for cell in groups[number][1]):
                continue
            self.watch.step(f"settings of the open decisions {', '.join(names)}")
            parts = [self._tried(number, *groups[number]) for number in numbers]
            together = self._settings_table(parts)
            if len(parts) == 1 or together.one is not None:
                self._judge_open(parts, together)
            else:
                for part in parts:
                    self._judge_open([part], self._settings_table([part]))

    def _tried(self, number: int, setting: Setting, cells: Sequence[Cell]) -> TriedPart:
        """The settings of the open decisions for the cells under one protocol."""
        runs, settings, refits = self.verdicts.runs, self.budget.settings, self.budget.refits
        result = try_settings(runs, setting, metrics_of(cells), budget=settings, refits=refits, watch=self.watch)
        self.notes += result.notes
        if not result.complete:
            tried = f"{len(result.tried):,} of them"
            self.notes.append(f"Only a designed sample of the settings of the open decisions was tried: {tried}.")
        decisions = [axis.decision for axis in OpenDecisions.of(setting).all_axes]
        by_choice = {
            tuple(protocol.get(decision) for decision in decisions): (protocol, numbers)
            for protocol, numbers in result.tried
        }
        measured = [cell for cell in cells if cell in self.verdicts.values]
        return TriedPart(number, setting.protocol, measured, by_choice)

    def _settings_table(self, parts: Sequence[TriedPart]) -> SettingsTable:
        """The numbers of parts of a table under each setting that was tried for all of them."""
        cells, first = [cell for part in parts for cell in part.cells], parts[0]
        choices = [choice for choice in first.by_choice if all(choice in part.by_choice for part in parts)]
        values = np.array([[value for part in parts for value in part.numbers(choice)] for choice in choices])
        protocols = [first.by_choice[choice][0] for choice in choices]
        return SettingsTable(
            values=values,
            printed=np.array([cell.printed.value for cell in cells]),
            reach=np.array([cell.printed.slack + self.verdicts.by_digits[cell].reach for cell in cells]),
            gives=np.array([[self._gives(*pair) for pair in zip(cells, row, strict=True)] for row in values]),
            held=np.array([cell not in self.questioned for cell in cells]),
            order=[(len(changes(first.claimed, protocol)), protocol.hash) for protocol in protocols],
            in_words=lambda row: differences(first.claimed, protocols[row]),
            choices=choices,
        )

    def _judge_open(self, parts: Sequence[TriedPart], table: SettingsTable) -> None:
        """Give the numbers that a setting of the open decisions explains their verdict."""
        verdicts, settings = self.verdicts, len(table.values)
        if table.one is not None:
            self._bases |= {part.number: part.by_choice[table.choices[table.one]][0] for part in parts}
        for column, cell in enumerate(cell for part in parts for cell in part.cells):
            best = table.best(column)
            known = replace(verdicts.judgements[cell], giving=best.giving, settings=settings)
            if cell in self.questioned and best.giving:
                explanation = best.sentence(table.in_words(best.row), "settings of the open decisions")
                if best.holds:
                    by_digits = verdicts.by_digits[cell]
                    known = replace(by_digits, verdict="underspecified", why=explanation).tried(known)
                elif known.verdict == "differs":
                    known = known.adding(explanation)
                known = replace(known, met=best.met, chance=best.chance)
            verdicts.judgements[cell] = known

    def _gives(self, cell: Cell, value: float) -> bool:
        near = abs(value - cell.printed.value) <= self.verdicts.by_digits[cell].reach
        return self.verdicts.rounding.gives(cell.printed, value) or near

    def cause_search(self, groups: Sequence[Group]) -> CauseSearch:
        """The search for errors in the whole table."""
        runs, table = self.verdicts.runs, list(self.verdicts.values)
        positions = {cell: position for position, cell in enumerate(table)}
        of_groups = []
        for number, (setting, cells) in enumerate(groups):
            measured = np.array([positions[cell] for cell in cells if cell in positions], dtype=np.intp)
            base = self._bases.get(number)
            axes: tuple[Axis, ...] = ()
            if base is None and setting.open:
                ratings = runs.scored_run(setting.protocol, runs.seeds[0]).plan.interactions.ratings
                axes = OpenDecisions.of(setting, ratings).axes
            opened = frozenset(axis.decision for axis in OpenDecisions.of(setting).all_axes) if setting.open else ()
            of_groups.append(TableGroup(base or setting.protocol, axes, measured, frozenset(opened)))
        return CauseSearch(runs, table, of_groups, self.watch)

    def _find_causes(self, search: CauseSearch) -> None:
        """Find errors that explain many numbers at once, such as a leak, another metric or swapped rows."""
        judgements, cells = self.verdicts.judgements, search.cells
        held = np.array([cell not in self.questioned for cell in cells])
        settled = np.array([judgements[cell].verdict == "underspecified" for cell in cells])
        values = np.array([self.verdicts.values[cell][0] for cell in cells])
        for group in search.groups:  # where a setting of the open decisions holds, the numbers are its
            own = {setting.protocol.hash for setting, _ in self.verdicts.groups}
            if group.base.hash not in own:
                values[group.cells] = search.numbers_of(group)
        by_digits = [self.verdicts.by_digits[cell] for cell in cells]
        table = printed_numbers(by_digits, self.verdicts.rounding, values, held, ~held & ~settled)
        self.watch.step("errors, such as a leak or swapped rows")
        explanations = search.find(table)
        self.notes += search.notes
        for explanation in explanations:
            self.causes.append(give_cause(explanation, cells, self.verdicts.by_digits, judgements))

    def _find_nearest(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Find the protocols that come nearest to the numbers that differ, metric by metric."""
        verdicts = self.verdicts
        off = verdicts.differing(cells)
        for metric in metrics_of(off):
            differing = [cell for cell in off if cell.key.metric == metric]
            self.watch.step(f"the protocol nearest to {metric}")
            published = [
                Published(cell.key.algorithm, metric, cell.printed.value, cell.printed.decimals) for cell in differing
            ]
            scored = verdicts.runs.scored_run(setting.protocol, verdicts.runs.seeds[0])
            try:
                result = find_protocols(scored, published, budget=self.budget.search, progress=self.watch.update)
            except ReproError as error:
                self.notes.append(f"The search for the protocol nearest to {metric} failed: {error}")
                continue
            best = result.nearest[0]
            search = Search(
                metric=metric,
                under=setting.protocol.name if differing[0].key.under == "" else differing[0].key.under,
                rows=tuple(
                    (cell.key.algorithm, cell.printed.text, measured, near)
                    for cell, measured, near in zip(differing, result.own.values, best.values, strict=True)
                ),
                nearest=tuple(
                    f"{change.decision} = {change.after}: {change.meaning(change.after)}"
                    + ("" if change.before is None else f" (the claim has {change.before})")
                    for change in best.changes
                    if change.after is not None
                ),
                off=(result.own.residual, best.residual),
                tried=result.tried,
                fitting=result.fitting,
            )
            self.searches.append(search)
            for cell in differing:
                verdicts.judgements[cell] = verdicts.judgements[cell].adding(search.sentence)
