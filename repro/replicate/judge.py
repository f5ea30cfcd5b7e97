"""From measured numbers to a verdict for each printed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from repro.errors import PluginError, ReproError
from repro.evaluation.metrics import metrics, parse_measure
from repro.explain import Published, find_protocols
from repro.protocol import Value
from repro.replicate.bounds import bounds
from repro.replicate.chance import Table
from repro.replicate.claim import Cell, Setting
from repro.replicate.digits import Digits, digits_of
from repro.replicate.errata import bears_on_relations, certain_conflicts, certain_range
from repro.replicate.granularity import bears_on_steps, steps_of
from repro.replicate.orders import tie_intervals, ties_are_open
from repro.replicate.runs import Runs
from repro.replicate.settings import REFITS, SETTINGS, protocols_of, try_settings
from repro.replicate.verdict import Judged, Search

SEARCHED = 400  # protocols that are tried for numbers that differ
BOUNDED = 200  # settings of what is open whose best and worst rankings are looked at

Tell = Callable[[str, int, int], None]
Group = tuple[str, tuple[tuple[str, Value], ...]]


@dataclass(frozen=True)
class Budget:
    """How much is tried: settings of what is open for each fit, fits of their own, protocols for what differs."""

    settings: int = SETTINGS
    refits: int = REFITS
    search: int = SEARCHED


@dataclass
class Verdicts:
    """The verdicts on the printed numbers of algorithms, in the order of the claim."""

    runs: Runs
    budget: Budget
    tell: Tell | None = None
    values: dict[Cell, tuple[float, ...]] = field(default_factory=dict)
    not_run: dict[Cell, str] = field(default_factory=dict)
    digits: Digits = field(default_factory=Digits)
    judged: dict[Cell, Judged] = field(default_factory=dict)
    searches: list[Search] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def find(self) -> list[Judged]:
        """All of them: what was measured first, then what is open, what cannot be, and what would come nearer."""
        groups: dict[Group, list[Cell]] = {}
        for cell in self.runs.cells:
            groups.setdefault((cell.place.under, cell.place.changes), []).append(cell)
        for (under, changes), cells in groups.items():
            self._measure(self.runs.claim.setting(under, changes), cells)
        self.digits = digits_of([(cell.printed, values[0]) for cell, values in self.values.items()])
        for cell in self.runs.cells:
            self.judged[cell] = self._first(cell)
        for (under, changes), cells in groups.items():
            setting = self.runs.claim.setting(under, changes)
            if setting.open and any(cell in self.values for cell in cells):
                self._try_open(setting, cells)
        for (under, changes), cells in groups.items():
            self._order_ties(self.runs.claim.setting(under, changes), cells)
        self._refuse_impossible(groups)
        for (under, changes), cells in groups.items():
            self._search(self.runs.claim.setting(under, changes), cells)
        return [self.judged[cell] for cell in self.runs.cells]

    def _measure(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """What the claim's own setting gives, seed by seed; or why it gives nothing."""
        names = list(dict.fromkeys(cell.place.metric for cell in cells))
        seeds = dict.fromkeys(seed for cell in cells for seed in self.runs.seeds_of(cell))
        try:
            values = {seed: self.runs.values(setting.protocol, names, seed) for seed in seeds}
        except PluginError as error:  # the splitter of the protocol is one of a framework that does not work here
            self.not_run |= dict.fromkeys(cells, str(error))
            return
        for cell in cells:
            place = cell.place
            key, nothing = (place.algorithm, place.metric), float("nan")
            found = tuple(values[seed].get(key, nothing) for seed in self.runs.seeds_of(cell))
            if why := self.runs.not_run.get(place.algorithm):
                self.not_run[cell] = why
            elif found[0] != found[0]:
                self.not_run[cell] = f"{place.algorithm} has no {place.metric} here"
            else:
                self.values[cell] = found

    def _first(self, cell: Cell) -> Judged:
        """The verdict by what the claim's own setting gives."""
        place, printed, tolerance = cell.place, cell.printed, cell.tolerance
        values = self.values.get(cell, ())
        judged = Judged(
            what="cell",
            algorithm=place.algorithm,
            metric=place.metric,
            verdict="differs",
            printed=printed,
            values=values,
            under=place.under,
            changes=place.changes,
            reach=tolerance.reach(values),
        )
        if cell in self.not_run:
            return replace(judged, verdict="not run", why=self.not_run[cell])
        if printed.rounds_from(values[0]):
            return replace(judged, verdict="exact")
        if self.digits.gives(printed, values[0]):
            return replace(judged, verdict="within", why=f"{printed.shown(values[0], 2)}: {self.digits.sentence}")
        if tolerance.holds(printed, values):
            return replace(judged, verdict="within", why=_interval(judged, tolerance.level))
        told = self.digits.doubt(printed, values[0]), _spread(judged, tolerance.kind)
        return replace(judged, why="; ".join(filter(None, told)))

    def _try_open(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Which settings of what the source leaves open give the numbers, all numbers of the table together."""
        names = list(dict.fromkeys(cell.place.metric for cell in cells))
        tried = try_settings(
            self.runs, setting, names, budget=self.budget.settings, refits=self.budget.refits, tell=self.tell
        )
        self.notes += tried.notes
        known = [cell for cell in cells if cell in self.values]
        table = Table(
            values=np.array([[one.value(cell.place) for cell in known] for one in tried.tried]),
            reach=np.array([self._reach(cell) for cell in known]),
            gives=np.array([[self._gives(cell, one.value(cell.place)) for cell in known] for one in tried.tried]),
            held=np.array([self.judged[cell].verdict in ("exact", "within") for cell in known]),
            order=[(one.steps(tried.own), one.protocol.hash) for one in tried.tried],
        )
        for place, cell in enumerate(known):
            found = table.best(place)
            judged = replace(self.judged[cell], giving=found.giving, settings=len(tried.tried))
            if judged.verdict == "differs" and found.giving:
                told = found.sentence(tried.tried[found.row].differs(tried.own), "settings of what is open")
                judged = replace(
                    judged,
                    verdict="underspecified" if found.holds else "differs",
                    met=found.met,
                    chance=found.chance,
                    why="; ".join(filter(None, (judged.why if not found.holds else "", told))),
                )
            self.judged[cell] = judged
        if not tried.complete:
            self.notes.append(
                f"What is open has more settings than were tried: {len(tried.tried):,} of them, a designed sample."
            )

    def _reach(self, cell: Cell) -> float:
        """How far from the printed number a value may be that gives it."""
        return cell.printed.slack + self.judged[cell].reach

    def _gives(self, cell: Cell, value: float) -> bool:
        near = abs(value - cell.printed.value) <= self.judged[cell].reach
        return self.digits.gives(cell.printed, value) or near

    def _order_ties(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Of what differs, what an order of tied items gives: where the source does not say which, that is open."""
        off = [cell for cell in cells if self.judged[cell].verdict == "differs" and _is_ranked(setting, cell)]
        if not off:
            return
        names = list(dict.fromkeys(cell.place.metric for cell in off))
        kept = self.runs.kept(setting.protocol, self.runs.seeds[0])
        found = tie_intervals(kept, setting.protocol, names)
        for cell in off:
            interval = found.get((cell.place.algorithm, cell.place.metric))
            if interval is None:
                continue
            told = interval.sentence(cell.printed)
            if not interval.holds(cell.printed, self.digits):
                if interval.orders and interval.low < interval.high and ties_are_open(setting):
                    why = "; ".join(filter(None, (self.judged[cell].why, f"{told}, and others may move it further")))
                    self.judged[cell] = replace(self.judged[cell], why=why)
                continue
            judged = replace(self.judged[cell], ties=(interval.low, interval.high))
            if ties_are_open(setting):
                why = f"by ties: {told}, and the source does not say which order"
                judged = replace(judged, verdict="underspecified", why=why)
            else:
                hint = f"{told}; if the source does not say how ties are broken, add ties.break to open"
                judged = replace(judged, why="; ".join(filter(None, (judged.why, hint))))
            self.judged[cell] = judged

    def _refuse_impossible(self, groups: dict[Group, list[Cell]]) -> None:
        """Of what no setting gives, what cannot be: whatever is open, no computation gives it."""
        for (under, changes), cells in groups.items():
            setting = self.runs.claim.setting(under, changes)
            self._refuse_by_arithmetic(setting, cells)
            self._refuse_by_steps(setting, cells)
            self._refuse_by_ranking(setting, cells)

    def _off(self, cells: Sequence[Cell]) -> list[Cell]:
        """What differs, and what only the order of ties may explain."""
        return [cell for cell in cells if self.judged[cell].verdict == "differs" or self._by_ties(cell)]

    def _by_ties(self, cell: Cell) -> bool:
        return self.judged[cell].verdict == "underspecified" and self.judged[cell].ties is not None

    def _erratum(self, cell: Cell, why: str) -> None:
        self.judged[cell] = replace(self.judged[cell], verdict="erratum", why=why)

    def _refuse_by_arithmetic(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Numbers out of their range, or at odds with each other, under every setting of what is open."""
        known = {parse_measure(cell.place.metric, setting.protocol, metrics()).metric.name for cell in cells}
        shared = _may_share(setting)
        protocols = protocols_of(setting, lambda decision: bears_on_relations(decision, known, shared))
        if protocols is None:
            return
        folds = self.runs.folds(setting)
        for cell in self._off(cells):
            if why := certain_range(cell, protocols, self.digits):
                self._erratum(cell, why)
        for conflict in certain_conflicts(cells, protocols, self.digits, folds):
            off = [cell for cell in conflict.cells if cell in self._off(cells)]
            for cell in off:
                several = "; at least one of these is wrong" if len(off) > 1 else ""
                self._erratum(cell, conflict.why + several)

    def _refuse_by_steps(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Averages that no whole numbers of hits give, where it is known of which lists."""
        if setting.open and protocols_of(setting, bears_on_steps) != [setting.protocol]:
            return
        for cell in self._off(cells):
            place = cell.place
            measure = parse_measure(place.metric, setting.protocol, metrics())
            folds = self.runs.lists(setting.protocol, place.algorithm, measure)
            steps = steps_of(measure, setting.protocol, folds) if folds else None
            why = steps.objection(cell.printed, self.digits, place.metric) if steps else ""
            if why and self._same_lists(setting, cells):
                self._erratum(cell, why)

    def _same_lists(self, setting: Setting, cells: Sequence[Cell]) -> bool:
        """Whether the held-out items are those of the source: other numbers of lists are exact, or nothing is drawn."""
        exact = [cell for cell in cells if self.judged[cell].verdict == "exact" and _is_ranked(setting, cell)]
        return bool(exact) or not self.runs.split_is_drawn(setting.protocol)

    def _refuse_by_ranking(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Numbers beyond what the best or the worst ranking of the candidates reaches."""
        off = [cell for cell in cells if self.judged[cell].verdict == "differs"]
        # The order of ties is one of rankings; where tied items may share a rank, it is more.
        shared = _may_share(setting)
        protocols = protocols_of(setting, lambda one: shared or not one.startswith("ties."), BOUNDED) if off else None
        if protocols is None:
            return
        found = bounds(self.runs, protocols, list(dict.fromkeys(cell.place.metric for cell in off)))
        for cell in off:
            limits = found.get(cell.place.metric)
            if limits and (why := limits.beyond(cell.printed, self.digits, cell.place.metric)):
                self._erratum(cell, why)

    def _search(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Which protocols come nearest to what differs, metric by metric."""
        off: dict[str, list[Cell]] = {}
        for cell in cells:
            if self.judged[cell].verdict == "differs":
                off.setdefault(cell.place.metric, []).append(cell)
        for metric, those in off.items():
            wanted = [Published(c.place.algorithm, metric, c.printed.value, c.printed.decimals) for c in those]
            kept = self.runs.kept(setting.protocol, self.runs.seeds[0])
            try:
                found = find_protocols(kept, wanted, budget=self.budget.search, tell=self.tell)
            except ReproError as error:
                self.notes.append(f"The protocol that comes nearest to {metric} could not be searched: {error}")
                continue
            best = found.nearest[0]
            search = Search(
                metric=metric,
                under=setting.protocol.name if those[0].place.under == "" else those[0].place.under,
                rows=tuple(
                    (cell.place.algorithm, cell.printed.text, own, near)
                    for cell, own, near in zip(those, found.own.values, best.values, strict=True)
                ),
                nearest=tuple(
                    f"{one.decision} = {one.after}: {one.meaning(one.after)}" + _instead(one.before)
                    for one in best.changes
                    if one.after is not None
                ),
                off=(found.own.residual, best.residual),
                tried=found.tried,
                fitting=found.fitting,
            )
            self.searches.append(search)
            for cell in those:
                judged = self.judged[cell]
                why = "; ".join(filter(None, (judged.why, search.sentence)))
                self.judged[cell] = replace(judged, why=why)


def _instead(before: Value | None) -> str:
    return "" if before is None else f" (the claim has {before})"


def _may_share(setting: Setting) -> bool:
    """Whether the claim names, as what is open, rules by which tied items share a rank."""
    return any("shared" in one for one in setting.open)


def _is_ranked(setting: Setting, cell: Cell) -> bool:
    """Whether the order of tied items can change a number: not of predictions, nor where tied items share a rank."""
    measure = parse_measure(cell.place.metric, setting.protocol, metrics())
    return measure.metric.kind != "prediction" and not str(setting.protocol["ties.break"]).startswith("shared")


def _interval(judged: Judged, level: float) -> str:
    assert judged.printed is not None
    low, high = (judged.printed.shown(judged.mean + sign * judged.reach) for sign in (-1, 1))
    if len(judged.values) < 2:
        return f"within {low} to {high}"
    return f"within {low} to {high}, the {level:.0%} prediction interval of {len(judged.values)} seeds"


def _spread(judged: Judged, kind: str) -> str:
    """What seeds say of a number that differs."""
    if judged.spread is None:
        return "one seed alone has no spread; give more in seeds" if kind == "seeds" else ""
    assert judged.printed is not None
    low, high = judged.spread
    told = f"{judged.printed.shown(low)} to {judged.printed.shown(high)} over {len(judged.values)} seeds"
    inside = low - judged.printed.slack <= judged.printed.value <= high + judged.printed.slack
    return told + (', so that tolerance of kind "seeds" may hold it' if inside and kind == "rounding" else "")
