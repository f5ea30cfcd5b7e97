"""Verdicts on the printed numbers of algorithms, from measured ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from repro.errors import PluginError
from repro.evaluation.metrics import metrics, parse_measure
from repro.grouping import grouped
from repro.replications.claim_runs import Runs
from repro.replications.claims.claim import Cell, Setting
from repro.replications.claims.printed import Rounding, infer_rounding
from repro.replications.errata.bounds import bounds
from repro.replications.errata.contradictions import bears_on_relations, certain_conflicts, certain_range
from repro.replications.errata.granularity import bears_on_steps, steps_of
from repro.replications.settings.open_decisions import protocols_of
from repro.replications.settings.tie_orders import tie_intervals, ties_are_open
from repro.replications.verdicts.judgement import Judgement, judge_cell, not_run
from repro.replications.verdicts.spreads import sentence, spreads_of

BOUNDED = 200  # settings of the open decisions whose best and worst rankings are evaluated


@dataclass
class CellVerdicts:
    """The verdicts on the printed numbers of algorithms by the claim's own setting, in the order of the claim.

    known  called with the judgement of each number as soon as it is measured
    """

    runs: Runs
    known: Callable[[Judgement], object] | None = None
    values: dict[Cell, tuple[float, ...]] = field(default_factory=dict)
    rounding: Rounding = field(default_factory=Rounding)
    judgements: dict[Cell, Judgement] = field(default_factory=dict)
    by_digits: dict[Cell, Judgement] = field(default_factory=dict)

    def judge(self) -> None:
        """Measure all numbers, and compare them with the printed ones; find orders of ties and errata."""
        for setting, cells in self.groups:
            self._measure(setting, cells)
            if self.known:
                for cell in cells:
                    known = self.judgements.get(cell) or judge_cell(cell, self.values[cell], self.rounding)
                    self.known(known)
        self.rounding = infer_rounding([(cell.printed, values[0]) for cell, values in self.values.items()])
        self.by_digits = {cell: judge_cell(cell, values, self.rounding) for cell, values in self.values.items()}
        self.judgements |= self.by_digits
        self._judge_spreads()
        for step in (self._order_ties, self._find_contradictions, self._find_impossible_averages):
            for setting, cells in self.groups:
                step(setting, cells)
        for setting, cells in self.groups:
            self.find_out_of_reach(setting, cells, 1)

    @cached_property
    def groups(self) -> list[tuple[Setting, list[Cell]]]:
        """The cells under each setting."""
        by_setting = grouped(self.runs.cells, lambda cell: (cell.key.under, cell.key.changes))
        return [(self.runs.claim.setting(*key), cells) for key, cells in by_setting.items()]

    def in_order(self) -> list[Judgement]:
        """The judgements in the order of the claim."""
        return [self.judgements[cell] for cell in self.runs.cells]

    def _measure(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Measure the numbers under the claim's own setting with each seed, or note why there are none."""
        seeds = dict.fromkeys(seed for cell in cells for seed in self.runs.seeds_of(cell))
        try:
            numbers = {seed: self.runs.values(setting.protocol, metrics_of(cells), seed) for seed in seeds}
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

    def _judge_spreads(self) -> None:
        """State what each printed spread agrees with: spreads over seeds, or over folds."""
        for cell, values in self.values.items():
            if cell.printed.spread is not None:
                protocol = self.runs.claim.setting(cell.key.under, cell.key.changes).protocol
                folds = self.runs.fold_values(protocol, cell.key.algorithm, cell.key.metric)
                spreads = spreads_of(cell.printed.spread, values, folds)
                judgement = replace(self.judgements[cell], spreads=spreads)
                self.judgements[cell] = judgement.adding(sentence(cell.printed.spread, spreads))

    def differing(self, cells: Sequence[Cell]) -> list[Cell]:
        return [cell for cell in cells if self.judgements[cell].verdict == "differs"]

    def _order_ties(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Explain numbers that differ by an order of tied items, where the source does not state the order."""
        off = [cell for cell in self.differing(cells) if _is_ranked(setting, cell)]
        if not off:
            return
        scored, ties_open = self.runs.scored_run(setting.protocol, self.runs.seeds[0]), ties_are_open(setting)
        intervals = tie_intervals(scored, setting.protocol, metrics_of(off))
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

    def find_out_of_reach(self, setting: Setting, cells: Sequence[Cell], most: int = BOUNDED) -> None:
        """Mark numbers beyond those of the best or the worst ranking of the candidates, under all of ``most`` or fewer
        settings."""
        off, shared = self.differing(cells), _may_share(setting)
        if not off:
            return
        # Rules for ties only reorder items, which the extreme rankings cover, unless tied items may share a rank.
        protocols = protocols_of(setting, lambda decision: shared or not decision.startswith("ties."), most)
        if protocols is None:
            return
        limits_of = bounds(self.runs, protocols, metrics_of(off))
        for cell in off:
            limits = limits_of.get(cell.key.metric)
            if limits and (why := limits.beyond(cell.printed, self.rounding, cell.key.metric)):
                self._erratum(cell, why)


def metrics_of(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell.key.metric for cell in cells))


def _may_share(setting: Setting) -> bool:
    """Whether the open decisions include rules by which tied items share a rank."""
    return any("shared" in decision for decision in setting.open)


def _is_ranked(setting: Setting, cell: Cell) -> bool:
    """Whether the order of tied items can change a number: not predictions, and not if tied items share a rank."""
    measure = parse_measure(cell.key.metric, setting.protocol, metrics())
    return measure.metric.kind != "prediction" and not str(setting.protocol["ties.break"]).startswith("shared")
