"""Verdicts on the printed numbers of algorithms, from measured ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from repro.errors import PluginError, ReproError
from repro.evaluation.metrics import metrics, parse_measure
from repro.explain import Published, find_protocols
from repro.protocol import Value
from repro.replicate.claim_runs import Runs
from repro.replicate.claims.claim import Cell, Setting
from repro.replicate.claims.rounding import Rounding, infer_rounding
from repro.replicate.errata.bounds import bounds
from repro.replicate.errata.conflicts import bears_on_relations, certain_conflicts, certain_range
from repro.replicate.errata.granularity import bears_on_steps, steps_of
from repro.replicate.settings.chance import SettingsTable
from repro.replicate.settings.open_decisions import REFITS, SETTINGS, protocols_of, try_settings
from repro.replicate.settings.tie_orders import tie_intervals, ties_are_open
from repro.replicate.verdicts.judgement import Judgement, Search
from repro.types import Progress

SEARCHED = 400  # protocols to try for numbers that differ
BOUNDED = 200  # settings of the open decisions whose best and worst rankings are evaluated

Group = tuple[str, tuple[tuple[str, Value], ...]]


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
    not_run: dict[Cell, str] = field(default_factory=dict)
    rounding: Rounding = field(default_factory=Rounding)
    judgements: dict[Cell, Judgement] = field(default_factory=dict)
    searches: list[Search] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def judge(self) -> list[Judgement]:
        """Measure all numbers, try open decisions and orders of ties, find errata, and search for nearer protocols."""
        groups: dict[Group, list[Cell]] = {}
        for cell in self.runs.cells:
            groups.setdefault((cell.key.under, cell.key.changes), []).append(cell)
        for (under, changes), cells in groups.items():
            self._measure(self.runs.claim.setting(under, changes), cells)
        self.rounding = infer_rounding([(cell.printed, values[0]) for cell, values in self.values.items()])
        for cell in self.runs.cells:
            self.judgements[cell] = self._first(cell)
        for (under, changes), cells in groups.items():
            setting = self.runs.claim.setting(under, changes)
            if setting.open and any(cell in self.values for cell in cells):
                self._try_open(setting, cells)
        for (under, changes), cells in groups.items():
            self._order_ties(self.runs.claim.setting(under, changes), cells)
        self._find_errata(groups)
        for (under, changes), cells in groups.items():
            self._search(self.runs.claim.setting(under, changes), cells)
        return [self.judgements[cell] for cell in self.runs.cells]

    def _measure(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Measure the numbers under the claim's own setting with each seed, or note why there are none."""
        names = list(dict.fromkeys(cell.key.metric for cell in cells))
        seeds = dict.fromkeys(seed for cell in cells for seed in self.runs.seeds_of(cell))
        try:
            values = {seed: self.runs.values(setting.protocol, names, seed) for seed in seeds}
        except PluginError as error:  # the protocol uses the splitter of a framework that does not run here
            self.not_run |= dict.fromkeys(cells, str(error))
            return
        for cell in cells:
            key = cell.key
            column, nothing = (key.algorithm, key.metric), float("nan")
            by_seed = tuple(values[seed].get(column, nothing) for seed in self.runs.seeds_of(cell))
            if why := self.runs.not_run.get(key.algorithm):
                self.not_run[cell] = why
            elif by_seed[0] != by_seed[0]:
                self.not_run[cell] = f"{key.algorithm} has no {key.metric} here"
            else:
                self.values[cell] = by_seed

    def _first(self, cell: Cell) -> Judgement:
        """The verdict by the numbers of the claim's own setting."""
        key, printed, tolerance = cell.key, cell.printed, cell.tolerance
        values = self.values.get(cell, ())
        judgement = Judgement(
            what="cell",
            algorithm=key.algorithm,
            metric=key.metric,
            verdict="differs",
            printed=printed,
            values=values,
            under=key.under,
            changes=key.changes,
            reach=tolerance.reach(values),
        )
        if cell in self.not_run:
            return replace(judgement, verdict="not run", why=self.not_run[cell])
        if printed.matches_rounded(values[0]):
            return replace(judgement, verdict="exact")
        if self.rounding.gives(printed, values[0]):
            return replace(judgement, verdict="within", why=f"{printed.shown(values[0], 2)}: {self.rounding.sentence}")
        if tolerance.holds(printed, values):
            return replace(judgement, verdict="within", why=_interval(judgement, tolerance.level))
        reasons = self.rounding.doubt(printed, values[0]), _spread(judgement, tolerance.kind)
        return replace(judgement, why="; ".join(filter(None, reasons)))

    def _try_open(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Find settings of the open decisions that give the numbers, judged on all numbers of the table together."""
        names = list(dict.fromkeys(cell.key.metric for cell in cells))
        tried = try_settings(
            self.runs, setting, names, budget=self.budget.settings, refits=self.budget.refits, progress=self.progress
        )
        self.notes += tried.notes
        measured = [cell for cell in cells if cell in self.values]
        table = SettingsTable(
            values=np.array([[setting_tried.value(cell.key) for cell in measured] for setting_tried in tried.tried]),
            reach=np.array([self._reach(cell) for cell in measured]),
            gives=np.array(
                [
                    [self._gives(cell, setting_tried.value(cell.key)) for cell in measured]
                    for setting_tried in tried.tried
                ]
            ),
            held=np.array([self.judgements[cell].verdict in ("exact", "within") for cell in measured]),
            order=[(setting_tried.steps(tried.claimed), setting_tried.protocol.hash) for setting_tried in tried.tried],
        )
        for column, cell in enumerate(measured):
            best = table.best(column)
            judgement = replace(self.judgements[cell], giving=best.giving, settings=len(tried.tried))
            if judgement.verdict == "differs" and best.giving:
                explanation = best.sentence(
                    tried.tried[best.row].differs(tried.claimed), "settings of the open decisions"
                )
                judgement = replace(
                    judgement,
                    verdict="underspecified" if best.holds else "differs",
                    met=best.met,
                    chance=best.chance,
                    why="; ".join(filter(None, (judgement.why if not best.holds else "", explanation))),
                )
            self.judgements[cell] = judgement
        if not tried.complete:
            self.notes.append(
                f"Only a designed sample of the settings of the open decisions was tried: {len(tried.tried):,} of them."
            )

    def _reach(self, cell: Cell) -> float:
        """The largest distance of a value that gives the printed number."""
        return cell.printed.slack + self.judgements[cell].reach

    def _gives(self, cell: Cell, value: float) -> bool:
        near = abs(value - cell.printed.value) <= self.judgements[cell].reach
        return self.rounding.gives(cell.printed, value) or near

    def _order_ties(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Explain numbers that differ by an order of tied items, where the source does not state the order."""
        off = [cell for cell in cells if self.judgements[cell].verdict == "differs" and _is_ranked(setting, cell)]
        if not off:
            return
        names = list(dict.fromkeys(cell.key.metric for cell in off))
        scored = self.runs.kept(setting.protocol, self.runs.seeds[0])
        intervals = tie_intervals(scored, setting.protocol, names)
        for cell in off:
            interval = intervals.get((cell.key.algorithm, cell.key.metric))
            if interval is None:
                continue
            sentence = interval.sentence(cell.printed)
            if not interval.holds(cell.printed, self.rounding):
                if interval.orders and interval.low < interval.high and ties_are_open(setting):
                    why = "; ".join(
                        filter(None, (self.judgements[cell].why, f"{sentence}, and others may move it further"))
                    )
                    self.judgements[cell] = replace(self.judgements[cell], why=why)
                continue
            judgement = replace(self.judgements[cell], ties=(interval.low, interval.high))
            if ties_are_open(setting):
                why = f"by ties: {sentence}, and the source does not say which order"
                judgement = replace(judgement, verdict="underspecified", why=why)
            else:
                hint = f"{sentence}; if the source does not say how ties are broken, add ties.break to open"
                judgement = replace(judgement, why="; ".join(filter(None, (judgement.why, hint))))
            self.judgements[cell] = judgement

    def _find_errata(self, groups: dict[Group, list[Cell]]) -> None:
        """Mark as errata the numbers that no computation gives, whatever the open decisions."""
        for (under, changes), cells in groups.items():
            setting = self.runs.claim.setting(under, changes)
            self._find_contradictions(setting, cells)
            self._find_impossible_averages(setting, cells)
            self._find_out_of_reach(setting, cells)

    def _unexplained(self, cells: Sequence[Cell]) -> list[Cell]:
        """Cells that differ, or that only the order of ties may explain."""
        return [cell for cell in cells if self.judgements[cell].verdict == "differs" or self._by_ties(cell)]

    def _by_ties(self, cell: Cell) -> bool:
        return self.judgements[cell].verdict == "underspecified" and self.judgements[cell].ties is not None

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
        off = [cell for cell in cells if self.judgements[cell].verdict == "differs"]
        # Rules for ties only reorder items, which the extreme rankings cover, unless tied items may share a rank.
        shared = _may_share(setting)
        protocols = (
            protocols_of(setting, lambda decision: shared or not decision.startswith("ties."), BOUNDED) if off else None
        )
        if protocols is None:
            return
        limits_of = bounds(self.runs, protocols, list(dict.fromkeys(cell.key.metric for cell in off)))
        for cell in off:
            limits = limits_of.get(cell.key.metric)
            if limits and (why := limits.beyond(cell.printed, self.rounding, cell.key.metric)):
                self._erratum(cell, why)

    def _search(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Search for the protocols that come nearest to the numbers that differ, metric by metric."""
        off: dict[str, list[Cell]] = {}
        for cell in cells:
            if self.judgements[cell].verdict == "differs":
                off.setdefault(cell.key.metric, []).append(cell)
        for metric, differing in off.items():
            published = [
                Published(cell.key.algorithm, metric, cell.printed.value, cell.printed.decimals) for cell in differing
            ]
            scored = self.runs.kept(setting.protocol, self.runs.seeds[0])
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
                    f"{change.decision} = {change.after}: {change.meaning(change.after)}" + _instead(change.before)
                    for change in best.changes
                    if change.after is not None
                ),
                off=(result.own.residual, best.residual),
                tried=result.tried,
                fitting=result.fitting,
            )
            self.searches.append(search)
            for cell in differing:
                judgement = self.judgements[cell]
                why = "; ".join(filter(None, (judgement.why, search.sentence)))
                self.judgements[cell] = replace(judgement, why=why)


def _instead(before: Value | None) -> str:
    return "" if before is None else f" (the claim has {before})"


def _may_share(setting: Setting) -> bool:
    """Whether the open decisions include rules by which tied items share a rank."""
    return any("shared" in decision for decision in setting.open)


def _is_ranked(setting: Setting, cell: Cell) -> bool:
    """Whether the order of tied items can change a number: not predictions, and not if tied items share a rank."""
    measure = parse_measure(cell.key.metric, setting.protocol, metrics())
    return measure.metric.kind != "prediction" and not str(setting.protocol["ties.break"]).startswith("shared")


def _interval(judgement: Judgement, level: float) -> str:
    assert judgement.printed is not None
    low, high = (judgement.printed.shown(judgement.mean + sign * judgement.reach) for sign in (-1, 1))
    if len(judgement.values) < 2:
        return f"within {low} to {high}"
    return f"within {low} to {high}, the {level:.0%} prediction interval of {len(judgement.values)} seeds"


def _spread(judgement: Judgement, kind: str) -> str:
    """The range over seeds of a number that differs."""
    if judgement.spread is None:
        return "a single seed has no spread; add seeds" if kind == "seeds" else ""
    assert judgement.printed is not None
    low, high = judgement.spread
    sentence = f"{judgement.printed.shown(low)} to {judgement.printed.shown(high)} over {len(judgement.values)} seeds"
    inside = low - judgement.printed.slack <= judgement.printed.value <= high + judgement.printed.slack
    return sentence + ('; a tolerance of kind "seeds" may contain it' if inside and kind == "rounding" else "")
