"""Verdicts on the printed numbers of algorithms, from measured ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from repro.errors import PluginError, ReproError
from repro.evaluation.metrics import metrics, parse_measure
from repro.explanations import Published, find_protocols
from repro.explanations.interpolate import changes
from repro.grouping import grouped
from repro.protocol import Value
from repro.replications.claim_runs import Runs
from repro.replications.claims.claim import Cell, Setting
from repro.replications.claims.printed import Rounding, infer_rounding
from repro.replications.errata.bounds import bounds
from repro.replications.errata.contradictions import bears_on_relations, certain_conflicts, certain_range
from repro.replications.errata.granularity import bears_on_steps, steps_of
from repro.replications.settings.chance import SettingsTable
from repro.replications.settings.open_decisions import REFITS, SETTINGS, differences, protocols_of, try_settings
from repro.replications.settings.tie_orders import tie_intervals, ties_are_open
from repro.replications.verdicts.judgement import Judgement, Search, judge_cell, not_run
from repro.types import Progress

SEARCHED = 400  # protocols to try for numbers that differ
BOUNDED = 200  # settings of the open decisions whose best and worst rankings are evaluated

Changes = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Budget:
    """Limits: settings of the open decisions for each fit, additional fits, and protocols for numbers that differ."""

    settings: int = SETTINGS
    refits: int = REFITS
    search: int = SEARCHED


@dataclass
class CellVerdicts:
    """The verdicts on the printed numbers of algorithms, in the order of the claim."""

    runs: Runs
    budget: Budget
    progress: Progress | None = None
    values: dict[Cell, tuple[float, ...]] = field(default_factory=dict)
    rounding: Rounding = field(default_factory=Rounding)
    judgements: dict[Cell, Judgement] = field(default_factory=dict)
    searches: list[Search] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def judge(self) -> list[Judgement]:
        """Measure all numbers, try open decisions and orders of ties, find errata, and search for nearer protocols."""
        by_setting = grouped(self.runs.cells, lambda cell: (cell.key.under, cell.key.changes))
        groups = [(self.runs.claim.setting(*key), cells) for key, cells in by_setting.items()]
        for setting, cells in groups:
            self._measure(setting, cells)
        self.rounding = infer_rounding([(cell.printed, values[0]) for cell, values in self.values.items()])
        self.judgements |= {cell: judge_cell(cell, values, self.rounding) for cell, values in self.values.items()}
        errata = (self._find_contradictions, self._find_impossible_averages, self._find_out_of_reach)
        for step in (self._try_open, self._order_ties, *errata, self._search):
            for setting, cells in groups:
                step(setting, cells)
        return [self.judgements[cell] for cell in self.runs.cells]

    def _measure(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Measure the numbers under the claim's own setting with each seed, or note why there are none."""
        seeds = dict.fromkeys(seed for cell in cells for seed in self.runs.seeds_of(cell))
        try:
            numbers = {seed: self.runs.values(setting.protocol, _metrics(cells), seed) for seed in seeds}
        except PluginError as error:  # the protocol uses the splitter of a framework that does not run here
            self.judgements |= {cell: not_run(cell, str(error)) for cell in cells}
            return
        for cell in cells:
            label, metric = cell.key.algorithm, cell.key.metric
            values = tuple(numbers[seed].get((label, metric), math.nan) for seed in self.runs.seeds_of(cell))
            if label in self.runs.not_run:
                self.judgements[cell] = not_run(cell, self.runs.not_run[label])
            elif math.isnan(values[0]):
                self.judgements[cell] = not_run(cell, f"{label} has no {metric} here")
            else:
                self.values[cell] = values

    def _differing(self, cells: Sequence[Cell]) -> list[Cell]:
        return [cell for cell in cells if self.judgements[cell].verdict == "differs"]

    def _try_open(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Find settings of the open decisions that give the numbers, judged on all numbers of the table together."""
        if not setting.open or not any(cell in self.values for cell in cells):
            return
        settings, refits = self.budget.settings, self.budget.refits
        result = try_settings(
            self.runs, setting, _metrics(cells), budget=settings, refits=refits, progress=self.progress
        )
        self.notes += result.notes
        measured, claimed = [cell for cell in cells if cell in self.values], setting.protocol
        keys = [(cell.key.algorithm, cell.key.metric) for cell in measured]
        values = np.array([[numbers.get(key, math.nan) for key in keys] for _, numbers in result.tried])
        table = SettingsTable(
            values=values,
            reach=np.array([cell.printed.slack + self.judgements[cell].reach for cell in measured]),
            gives=np.array([[self._gives(*pair) for pair in zip(measured, row, strict=True)] for row in values]),
            held=np.array([self.judgements[cell].verdict in ("exact", "within") for cell in measured]),
            order=[(len(changes(claimed, protocol)), protocol.hash) for protocol, _ in result.tried],
        )
        for column, cell in enumerate(measured):
            best = table.best(column)
            judgement = replace(self.judgements[cell], giving=best.giving, settings=len(result.tried))
            if judgement.verdict == "differs" and best.giving:
                setting_in_words = differences(claimed, result.tried[best.row][0])
                explanation = best.sentence(setting_in_words, "settings of the open decisions")
                if best.holds:
                    judgement = replace(judgement, verdict="underspecified", why="")
                judgement = replace(judgement, met=best.met, chance=best.chance).adding(explanation)
            self.judgements[cell] = judgement
        if not result.complete:
            tried = f"{len(result.tried):,} of them"
            self.notes.append(f"Only a designed sample of the settings of the open decisions was tried: {tried}.")

    def _gives(self, cell: Cell, value: float) -> bool:
        near = abs(value - cell.printed.value) <= self.judgements[cell].reach
        return self.rounding.gives(cell.printed, value) or near

    def _order_ties(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Explain numbers that differ by an order of tied items, where the source does not state the order."""
        off = [cell for cell in self._differing(cells) if _is_ranked(setting, cell)]
        if not off:
            return
        scored, ties_open = self.runs.scored_run(setting.protocol, self.runs.seeds[0]), ties_are_open(setting)
        intervals = tie_intervals(scored, setting.protocol, _metrics(off))
        for cell in off:
            interval = intervals.get((cell.key.algorithm, cell.key.metric))
            if interval is None:
                continue
            judgement, sentence = self.judgements[cell], interval.sentence(cell.printed)
            if interval.holds(cell.printed, self.rounding):
                judgement = replace(judgement, ties=(interval.low, interval.high))
                if ties_open:
                    why = f"by ties: {sentence}, and the source does not say which order"
                    judgement = replace(judgement, verdict="underspecified", why=why)
                else:
                    hint = "if the source does not say how ties are broken, add ties.break to open"
                    judgement = judgement.adding(sentence, hint)
            elif interval.orders and interval.low < interval.high and ties_open:
                judgement = judgement.adding(f"{sentence}, and others may move it further")
            self.judgements[cell] = judgement

    def _unexplained(self, cells: Sequence[Cell]) -> list[Cell]:
        """Cells that differ, or that only the order of ties may explain."""
        judged = [(cell, self.judgements[cell]) for cell in cells]
        by_ties = [cell for cell, judgement in judged if judgement.verdict == "underspecified" and judgement.ties]
        return [cell for cell in cells if cell in by_ties or self.judgements[cell].verdict == "differs"]

    def _erratum(self, cell: Cell, why: str) -> None:
        self.judgements[cell] = replace(self.judgements[cell], verdict="erratum", why=why)

    def _find_contradictions(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Mark numbers that are out of range or contradictory under every setting of the open decisions."""
        names = {parse_measure(cell.key.metric, setting.protocol, metrics()).metric.name for cell in cells}
        shared = _may_share(setting)
        protocols = protocols_of(setting, lambda decision: bears_on_relations(decision, names, shared))
        if protocols is None:
            return
        folds = self.runs.folds(setting)
        for cell in self._unexplained(cells):
            if why := certain_range(cell, protocols, self.rounding):
                self._erratum(cell, why)
        for conflict in certain_conflicts(cells, protocols, self.rounding, folds):
            off = [cell for cell in conflict.cells if cell in self._unexplained(cells)]
            for cell in off:
                several = "; at least one of these is wrong" if len(off) > 1 else ""
                self._erratum(cell, conflict.why + several)

    def _find_impossible_averages(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Mark averages that no whole number of hits gives, where the lists of the source are known."""
        if setting.open and protocols_of(setting, bears_on_steps) != [setting.protocol]:
            return
        for cell in self._unexplained(cells):
            key = cell.key
            measure = parse_measure(key.metric, setting.protocol, metrics())
            folds = self.runs.lists(setting.protocol, key.algorithm, measure)
            steps = steps_of(measure, setting.protocol, folds) if folds else None
            why = steps.objection(cell.printed, self.rounding, key.metric) if steps else ""
            if why and self._same_lists(setting, cells):
                self._erratum(cell, why)

    def _same_lists(self, setting: Setting, cells: Sequence[Cell]) -> bool:
        """Whether the test rows are those of the source: another ranking metric is exact, or the split is fixed."""
        exact = [cell for cell in cells if self.judgements[cell].verdict == "exact" and _is_ranked(setting, cell)]
        return bool(exact) or not self.runs.split_is_drawn(setting.protocol)

    def _find_out_of_reach(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Mark numbers beyond those of the best or the worst ranking of the candidates."""
        off, shared = self._differing(cells), _may_share(setting)
        if not off:
            return
        # Rules for ties only reorder items, which the extreme rankings cover, unless tied items may share a rank.
        protocols = protocols_of(setting, lambda decision: shared or not decision.startswith("ties."), BOUNDED)
        if protocols is None:
            return
        limits_of = bounds(self.runs, protocols, _metrics(off))
        for cell in off:
            limits = limits_of.get(cell.key.metric)
            if limits and (why := limits.beyond(cell.printed, self.rounding, cell.key.metric)):
                self._erratum(cell, why)

    def _search(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Search for the protocols that come nearest to the numbers that differ, metric by metric."""
        off = self._differing(cells)
        for metric in _metrics(off):
            differing = [cell for cell in off if cell.key.metric == metric]
            published = [
                Published(cell.key.algorithm, metric, cell.printed.value, cell.printed.decimals) for cell in differing
            ]
            scored = self.runs.scored_run(setting.protocol, self.runs.seeds[0])
            try:
                result = find_protocols(scored, published, budget=self.budget.search, progress=self.progress)
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
                self.judgements[cell] = self.judgements[cell].adding(search.sentence)


def _metrics(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell.key.metric for cell in cells))


def _may_share(setting: Setting) -> bool:
    """Whether the open decisions include rules by which tied items share a rank."""
    return any("shared" in decision for decision in setting.open)


def _is_ranked(setting: Setting, cell: Cell) -> bool:
    """Whether the order of tied items can change a number: not predictions, and not if tied items share a rank."""
    measure = parse_measure(cell.key.metric, setting.protocol, metrics())
    return measure.metric.kind != "prediction" and not str(setting.protocol["ties.break"]).startswith("shared")
