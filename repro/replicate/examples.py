"""Worked examples: lists and predictions that are printed in full, measured as they are.

Every input is given. So printed numbers that the claim's own setting does not give are tried under all settings of the
decisions that bear on them and that the claim does not state; a number that none of them gives is an erratum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from repro.errors import ReproError, StudyError
from repro.evaluate import Frames, measure_frames, read_frames
from repro.evaluate.measuring import predictions_of, rank_frames
from repro.evaluation.metrics import Measure, metrics, parse_measure
from repro.explain.design import Design, Variant, read_axes
from repro.explain.mixing import changes
from repro.explain.search import bearing_on
from repro.protocol import Protocol
from repro.replicate.chance import Table
from repro.replicate.claim import Cell, Claim, Place, Setting
from repro.replicate.digits import Digits, digits_of
from repro.replicate.errata import certain_conflicts, certain_range
from repro.replicate.granularity import FoldLists, steps_of
from repro.replicate.orders import BREAK, Interval, tie_interval
from repro.replicate.settings import differences
from repro.replicate.verdict import Judged

SETTINGS = 1000
_SHOWN = 12  # errors or users that arithmetic is spelt out for


class WorkedExamples:
    """The systems of a claim's worked examples, read when they are first asked for."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self._frames: dict[str, Frames] = {}
        self._values: dict[tuple[Place, str], float] = {}

    def frames(self, label: str) -> Frames:
        """What a system said, with what is true."""
        given = self.claim.examples
        assert given is not None
        if label not in self._frames:
            file = next(one.file for one in given.systems if one.label == label)
            train = self.claim.folder / given.train if given.train else None
            self._frames[label] = read_frames(self.claim.folder / file, self.claim.folder / given.truth, train)
        return self._frames[label]

    def value(self, place: Place, protocol: Protocol) -> float:
        """The number of a system by a metric: of all users, or of one."""
        frames = self.frames(place.algorithm)
        found = measure_frames(frames, protocol, [place.metric], self.claim.seeds[0])
        averaged = found.found[place.metric]
        if not place.user:
            return float(averaged.value)
        at = [number for number, code in enumerate(averaged.users) if str(frames.truth.user_ids[code]) == place.user]
        if not at:
            raise StudyError(f"{self.claim.path}: user {place.user} has no {place.metric} in {place.algorithm}")
        return float(averaged.values[at[0]])

    def judge(self) -> list[Judged]:
        """The verdict of each printed number of a system."""
        cells = [cell for cell in self.claim.cells if cell.place.algorithm in self.claim.systems]
        values = {cell: self.value(cell.place, self._setting(cell).protocol) for cell in cells}
        digits = digits_of([(cell.printed, value) for cell, value in values.items()])
        judged = {cell: self._first(cell, value, digits) for cell, value in values.items()}
        groups: dict[object, list[Cell]] = {}
        for cell in cells:
            groups.setdefault((cell.place.under, cell.place.changes), []).append(cell)
        for group in groups.values():
            off = [cell for cell in group if judged[cell].verdict == "differs"]
            if off:
                held = [cell for cell in group if judged[cell].verdict in ("exact", "within")]
                judged |= self._explained(judged, off, held, digits)
        return [judged[cell] for cell in cells]

    def _setting(self, cell: Cell) -> Setting:
        return self.claim.setting(cell.place.under, cell.place.changes)

    def _first(self, cell: Cell, value: float, digits: Digits) -> Judged:
        """The verdict by what the claim's own setting gives."""
        place, printed = cell.place, cell.printed
        judged = Judged(
            what="cell",
            algorithm=place.algorithm,
            metric=place.metric,
            verdict="differs",
            printed=printed,
            values=(value,),
            under=place.under,
            changes=place.changes,
            user=place.user,
        )
        if printed.rounds_from(value):
            return replace(judged, verdict="exact")
        if digits.gives(printed, value):
            return replace(judged, verdict="within", why=f"{printed.shown(value, 2)}: {digits.sentence}")
        if cell.tolerance.holds(printed, [value]):
            return replace(judged, verdict="within", why=cell.tolerance.sentence)
        return replace(judged, why=digits.doubt(printed, value))

    def _explained(
        self, judged: Mapping[Cell, Judged], off: Sequence[Cell], held: Sequence[Cell], digits: Digits
    ) -> dict[Cell, Judged]:
        """The verdicts of numbers that the claim's own setting does not give, judged on all numbers together."""
        own = self._setting(off[0]).protocol
        beyond = {cell: why for cell in off if (why := certain_range(cell, [own], digits))}
        if beyond:
            found = {cell: replace(judged[cell], verdict="erratum", why=why) for cell, why in beyond.items()}
            left = [cell for cell in off if cell not in beyond]
            return found | (self._explained(judged, left, held, digits) if left else {})
        variants = {cell: self._variants(cell, self._setting(cell)) for cell in off}
        protocols = {one.protocol.hash: one.protocol for those, _ in variants.values() for one in those}
        settings = list(protocols.values())
        values = np.array([[self._tried(cell, one) for cell in off] for one in settings])
        gives = np.array([[self._prints(*pair, digits) for pair in zip(off, row, strict=True)] for row in values])
        kept = np.ones((len(settings), len(held)), dtype=np.bool_)
        for row in np.flatnonzero(gives.any(axis=1)):  # the others explain nothing
            kept[row] = [self._prints(cell, self._tried(cell, settings[row]), digits) for cell in held]
        table = Table(
            values=np.hstack([values, np.zeros((len(settings), len(held)))]),
            reach=np.array([cell.printed.slack for cell in (*off, *held)]),
            gives=np.hstack([gives, kept]),
            held=np.arange(len(off) + len(held)) >= len(off),
            order=[(len(changes(own, one)), one.hash) for one in settings],
        )
        found = {}
        for place, cell in enumerate(off):
            best = table.best(place)
            told = best.sentence(differences(own, settings[best.row]), "settings of what is not stated")
            one = replace(judged[cell], giving=best.giving, settings=len(variants[cell][0]))
            if best.holds:
                found[cell] = replace(one, verdict="underspecified", met=best.met, chance=best.chance, why=told)
            elif (interval := self._ties(cell)) is not None and interval.holds(cell.printed, digits):
                why = f"by ties: {interval.sentence(cell.printed)}, and the source does not say which order"
                ties = (interval.low, interval.high)
                found[cell] = replace(one, verdict="underspecified", ties=ties, why=why)
            elif best.giving:
                found[cell] = replace(one, met=best.met, chance=best.chance, why=told)
            else:
                found[cell] = self._refused(cell, one, variants[cell], digits)
        return found

    def _refused(self, cell: Cell, judged: Judged, variants: tuple[list[Variant], bool], digits: Digits) -> Judged:
        """The verdict of a number that no setting gives: all input is known, so that it is an erratum."""
        setting = self._setting(cell)
        if cell.printed.cut_from(judged.value) and digits.habit == "unknown":
            return judged
        told = self._arithmetic(cell, setting, judged.value, len(variants[0]), variants[1], digits)
        return replace(judged, verdict="erratum", why="; ".join(filter(None, (judged.why, told))))

    def _ties(self, cell: Cell) -> Interval | None:
        """Between which numbers the order of ties decides, where the claim does not state it."""
        setting, frames = self._setting(cell), self.frames(cell.place.algorithm)
        measure = parse_measure(cell.place.metric, setting.protocol, metrics())
        if measure.metric.kind == "prediction" or BREAK in setting.stated or not _matters(BREAK, frames, measure):
            return None
        return tie_interval(setting.protocol, lambda protocol: self.value(cell.place, protocol))

    def _tried(self, cell: Cell, protocol: Protocol) -> float:
        """The number under another setting; not a number where it has none there."""
        key = cell.place, protocol.hash
        if key not in self._values:
            try:
                self._values[key] = self.value(cell.place, protocol)
            except ReproError:
                self._values[key] = math.nan
        return self._values[key]

    def _prints(self, cell: Cell, value: float, digits: Digits) -> bool:
        return digits.gives(cell.printed, value) or cell.tolerance.holds(cell.printed, [value])

    def _variants(self, cell: Cell, setting: Setting) -> tuple[list[Variant], bool]:
        """The settings of all that bears on a number and is not stated, and whether they are all."""
        frames, protocol = self.frames(cell.place.algorithm), setting.protocol
        measure = parse_measure(cell.place.metric, protocol, metrics())
        families = bearing_on([measure])
        axes = [
            axis
            for axis in read_axes([*families, *setting.open], protocol, frames.truth.ratings)
            if axis.decision not in setting.stated and _matters(axis.decision, frames, measure)
        ]
        design = Design(protocol, axes, SETTINGS)
        return design.variants(), design.complete

    def _arithmetic(
        self, cell: Cell, setting: Setting, value: float, tried: int, complete: bool, digits: Digits
    ) -> str:
        """The computation in words, and what else was tried."""
        printed, place = cell.printed, cell.place
        told = [self._computed(place, setting.protocol, value), f"not {printed.text}"]
        every = "all" if complete else "a sample of the"
        if tried > 1:
            told.append(f"nor under any of {every} {tried:,} settings of what is not stated")
        told += self._elsewhere(cell, setting)
        told += [steps] if (steps := self._no_step(cell, setting.protocol, digits)) else []
        key = place.under, place.changes
        beside = [one for one in self.claim.cells if (one.place.under, one.place.changes) == key]
        found = certain_conflicts(beside, [setting.protocol], digits, folds=1)
        return "; ".join([*told, *(one.why for one in found if cell in one.cells)])

    def _no_step(self, cell: Cell, protocol: Protocol, digits: Digits) -> str:
        """Why no whole numbers of hits give the printed average."""
        place, frames = cell.place, self.frames(cell.place.algorithm)
        measure = parse_measure(place.metric, protocol, metrics())
        if place.user or measure.metric.kind != "ranking" or measure.parts:
            return ""
        ranked = rank_frames(frames, [measure], protocol, self.claim.seeds[0])
        denominators = measure.of_lists(ranked, frames.background).denominator
        steps = steps_of(
            measure, protocol, [FoldLists(ranked.users, denominators, ranked.lengths.astype(np.int64), ranked.strata)]
        )
        return steps.objection(cell.printed, digits, place.metric) if steps else ""

    def _computed(self, place: Place, protocol: Protocol, value: float) -> str:
        """How a number comes about: from the errors of the pairs, or from the numbers of the users."""
        frames, measure = self.frames(place.algorithm), parse_measure(place.metric, protocol, metrics())
        of_pairs = measure.metric.name in ("mae", "mse", "rmse") and measure.variants.get("average") == "ratings"
        if of_pairs and not place.user:
            errors = predictions_of(place.metric, frames, protocol)[1].errors
            if 0 < len(errors) <= _SHOWN:
                return _of_errors(measure.metric.name, errors.tolist(), value)
        averaged = measure_frames(frames, protocol, [place.metric], self.claim.seeds[0]).found[place.metric]
        if place.user or not 0 < len(averaged.values) <= _SHOWN:
            return f"{place.sentence} is {value:.6g}"
        numbers = zip(frames.truth.user_ids[averaged.users], averaged.values, strict=True)
        users = (f"{user}: {one:.4g}" for user, one in numbers)
        return f"{place.metric} of each user is {', '.join(users)}, together {value:.6g}"

    def _elsewhere(self, cell: Cell, setting: Setting) -> list[str]:
        """Where else in the claim the printed number comes out: a sign of a cell that was copied or swapped."""
        found: dict[str, None] = {}
        for other in self.claim.cells:
            if other.place.algorithm not in self.claim.systems or other.place.changes == cell.place.changes:
                continue
            there = self.claim.setting(other.place.under, other.place.changes)
            if there.protocol.hash == setting.protocol.hash:
                continue
            if cell.printed.rounds_from(self._tried(cell, there.protocol)):
                found[", ".join(f"{key} = {value}" for key, value in other.place.changes)] = None
        return [f"it is what {settings} gives" for settings in found if settings]


def _of_errors(name: str, errors: Sequence[float], value: float) -> str:
    """MAE, MSE and RMSE spelt out."""
    listed = ", ".join(f"{error:g}" for error in errors)
    parts = [f"{abs(error):g}" if name == "mae" else f"{error * error:g}" for error in errors]
    mean = f"({' + '.join(parts)}) / {len(parts)}"
    formula = f"the root of {mean}" if name == "rmse" else mean
    return f"the errors that count are {listed}: {name} is {formula} = {value:.6g}"


def _matters(decision: str, frames: Frames, measure: Measure) -> bool:
    """Whether a decision can matter for lists that are given: candidates and folds cannot, nor rules for what is not
    there: empty lists, users without relevant items (all of whom have some where there are no ratings)."""
    no_list = bool((frames.lengths[np.unique(frames.truth.users)] == 0).any())
    no_relevant = frames.truth.explicit
    absent = {
        "average.no_list": not no_list,
        "average.no_relevant": not no_relevant,
        "average.neither": not (no_list and no_relevant),
        "average.no_negatives": not measure.metric.negatives,
        "average.nobody": not (no_list or no_relevant),
        "average.folds": True,
    }
    if absent.get(decision, False):
        return False
    family = decision.partition(".")[0]
    missing = bool(np.isnan(frames.scores).any()) or frames.state is not None
    if family in ("candidates", "data", "split"):
        return False
    if family == "missing":
        return missing
    if family == "ties":
        together = pd.DataFrame({"user": frames.users, "score": frames.scores})
        return missing or bool(together.duplicated().any())
    return True
