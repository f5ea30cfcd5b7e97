"""From measured numbers to a verdict for each printed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from repro.errors import ReproError
from repro.explain import Published, find_protocols
from repro.protocol import Value
from repro.replicate.bounds import bounds
from repro.replicate.claim import Cell, Setting
from repro.replicate.errata import conflicts, out_of_range
from repro.replicate.runs import Runs
from repro.replicate.settings import REFITS, SETTINGS, Settings, Tried, try_settings
from repro.replicate.verdict import Judged, Search

SEARCHED = 400  # protocols that are tried for numbers that differ

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
        for (under, changes), cells in groups.items():
            setting = self.runs.claim.setting(under, changes)
            if setting.open and any(self.judged[cell].verdict != "not run" for cell in cells):
                self._try_open(setting, cells)
        self._refuse_impossible(groups)
        for (under, changes), cells in groups.items():
            self._search(self.runs.claim.setting(under, changes), cells)
        return [self.judged[cell] for cell in self.runs.cells]

    def _measure(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """What the claim's own setting gives, seed by seed."""
        names = list(dict.fromkeys(cell.place.metric for cell in cells))
        seeds = dict.fromkeys(seed for cell in cells for seed in self.runs.seeds_of(cell))
        values = {seed: self.runs.values(setting.protocol, names, seed) for seed in seeds}
        for cell in cells:
            place = cell.place
            found = tuple(
                values[seed].get((place.algorithm, place.metric), float("nan")) for seed in self.runs.seeds_of(cell)
            )
            self.judged[cell] = self._first(cell, found)

    def _first(self, cell: Cell, values: tuple[float, ...]) -> Judged:
        place, printed, tolerance = cell.place, cell.printed, cell.tolerance
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
        if why := self.runs.not_run.get(place.algorithm):
            return replace(judged, verdict="not run", values=(), why=why)
        if values[0] != values[0]:
            return replace(judged, verdict="not run", why=f"{place.algorithm} has no {place.metric} here")
        if printed.rounds_from(values[0]):
            return replace(judged, verdict="exact")
        if printed.cut_from(values[0]):
            return replace(judged, verdict="within", why=f"its digits are cut off, not rounded: {values[0]:.6g}")
        if tolerance.holds(printed, values):
            return replace(judged, verdict="within", why=_interval(judged, tolerance.level))
        if why := out_of_range(self.runs.claim, cell):
            return replace(judged, verdict="erratum", why=why)
        return replace(judged, why=_spread(judged, tolerance.kind))

    def _try_open(self, setting: Setting, cells: Sequence[Cell]) -> None:
        """Which settings of what the source leaves open give the numbers."""
        names = list(dict.fromkeys(cell.place.metric for cell in cells))
        tried = try_settings(
            self.runs, setting, names, budget=self.budget.settings, refits=self.budget.refits, tell=self.tell
        )
        giving = {cell: [one for one in tried.tried if self._gives(cell, one)] for cell in cells}
        found = {id(one): sum(one in those for those in giving.values()) for one in tried.tried}
        for cell, those in giving.items():
            judged = replace(self.judged[cell], giving=len(those), settings=len(tried.tried))
            if judged.verdict == "differs" and those:
                best = min(those, key=lambda one: (-found[id(one)], one.steps(tried.own), one.protocol.hash))
                judged = replace(judged, verdict="underspecified", why=_told(tried, best, len(those), found[id(best)]))
            self.judged[cell] = judged
        if not tried.complete:
            self.notes.append(
                f"What is open has more settings than were tried: {len(tried.tried):,} of them, a designed sample."
            )

    def _gives(self, cell: Cell, one: Tried) -> bool:
        value = one.values.get((cell.place.algorithm, cell.place.metric), float("nan"))
        near = abs(value - cell.printed.value) <= self.judged[cell].reach
        return cell.printed.rounds_from(value) or cell.printed.cut_from(value) or near

    def _refuse_impossible(self, groups: dict[Group, list[Cell]]) -> None:
        """Of what differs, what cannot be: at odds with other numbers, or beyond what any ranking reaches."""
        claim = self.runs.claim
        for conflict in conflicts(claim, self.runs.cells):
            off = [cell for cell in conflict.cells if self.judged[cell].verdict == "differs"]
            for cell in off:
                several = "; at least one of these is wrong" if len(off) > 1 else ""
                self.judged[cell] = replace(self.judged[cell], verdict="erratum", why=conflict.why + several)
        for (under, changes), cells in groups.items():
            off = [cell for cell in cells if self.judged[cell].verdict == "differs"]
            setting = claim.setting(under, changes)
            if not off or setting.open:
                continue
            found = bounds(self.runs, setting.protocol, list(dict.fromkeys(cell.place.metric for cell in off)))
            for cell in off:
                limits = found.get(cell.place.metric)
                if limits and (why := limits.beyond(cell.printed, cell.place.metric)):
                    self.judged[cell] = replace(self.judged[cell], verdict="erratum", why=why)

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


def _told(tried: Settings, best: Tried, giving: int, together: int) -> str:
    also = f", and {together - 1} more of the printed numbers" if together > 1 else ""
    return (
        f"given with {best.differs(tried.own)}{also}; {giving:,} of {len(tried.tried):,} settings of what is open give "
        f"it, {len(tried.tried) - giving:,} do not"
    )


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
