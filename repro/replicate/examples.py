"""Worked examples: lists and predictions that are printed in full, measured as they are.

Every input is given. So a printed number that the claim's own setting does not give is tried under all settings of the
decisions that bear on it and that the claim does not state; where none gives it, it is an erratum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from repro.errors import ReproError, StudyError
from repro.evaluate import Frames, measure_frames, read_frames
from repro.evaluate.measuring import predictions_of
from repro.explain.design import Design, Variant, read_axes
from repro.explain.mixing import changes
from repro.explain.search import bearing_on
from repro.metrics import metrics, parse_measure
from repro.protocol import Protocol
from repro.replicate.claim import Cell, Claim, Place, Setting
from repro.replicate.errata import conflicts, out_of_range
from repro.replicate.verdict import Found, Judged

SETTINGS = 3000
_SHOWN = 12  # errors or users that arithmetic is spelt out for


class WorkedExamples:
    """The systems of a claim's worked examples, read when they are first asked for."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self._frames: dict[str, Frames] = {}

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
        return [self._judge(cell) for cell in cells]

    def _judge(self, cell: Cell) -> Judged:
        place, printed = cell.place, cell.printed
        setting = self.claim.setting(place.under, place.changes)
        value = self.value(place, setting.protocol)
        verdict, why, giving, tried = self._found(cell, setting, value)
        return Judged(
            what="cell",
            algorithm=place.algorithm,
            metric=place.metric,
            verdict=verdict,
            printed=printed,
            values=(value,),
            under=place.under,
            changes=place.changes,
            user=place.user,
            why=why,
            giving=giving,
            settings=tried,
        )

    def _found(self, cell: Cell, setting: Setting, value: float) -> tuple[Found, str, int, int]:
        printed = cell.printed
        if printed.rounds_from(value):
            return "exact", "", 0, 0
        if printed.cut_from(value):
            return "within", f"its digits are cut off, not rounded: {printed.shown(value, 2)}", 0, 0
        if cell.tolerance.holds(printed, [value]):
            return "within", cell.tolerance.sentence, 0, 0
        if why := out_of_range(self.claim, cell):
            return "erratum", why, 0, 0
        variants, complete = self._variants(cell, setting)
        giving = [one for one in variants if self._gives(cell, one.protocol)]
        if giving:
            first = min(giving, key=lambda one: (len(changes(setting.protocol, one.protocol)), one.protocol.hash))
            told = ", ".join(
                f"{one.decision} = {one.after} ({one.meaning(one.after)})"
                for one in changes(setting.protocol, first.protocol)
                if one.after is not None
            )
            others = f"{len(giving):,} of {len(variants):,} settings of what is not stated give it"
            return "underspecified", f"given with {told}; {others}", len(giving), len(variants)
        return "erratum", self._arithmetic(cell, setting, value, len(variants), complete), 0, len(variants)

    def _gives(self, cell: Cell, protocol: Protocol) -> bool:
        try:
            return cell.printed.rounds_from(self.value(cell.place, protocol))
        except ReproError:
            return False

    def _variants(self, cell: Cell, setting: Setting) -> tuple[list[Variant], bool]:
        """The settings of all that bears on a number and is not stated, and whether they are all."""
        frames, protocol = self.frames(cell.place.algorithm), setting.protocol
        families = bearing_on([parse_measure(cell.place.metric, protocol, metrics())])
        axes = [
            axis
            for axis in read_axes([*families, *setting.open], protocol, frames.truth.ratings)
            if axis.decision not in setting.stated and _matters(axis.decision, frames)
        ]
        design = Design(protocol, axes, SETTINGS)
        return design.variants(), design.complete

    def _arithmetic(self, cell: Cell, setting: Setting, value: float, tried: int, complete: bool) -> str:
        """The computation in words, and what else was tried."""
        printed, place = cell.printed, cell.place
        told = [self._computed(place, setting.protocol, value), f"not {printed.text}"]
        every = "all" if complete else "a sample of the"
        if tried > 1:
            told.append(f"nor under any of {every} {tried:,} settings of what is not stated")
        told += self._elsewhere(cell, setting)
        others = [one.why for one in conflicts(self.claim, self.claim.cells) if cell in one.cells]
        return "; ".join([*told, *others])

    def _computed(self, place: Place, protocol: Protocol, value: float) -> str:
        """How a number comes about: from the errors of the pairs, or from the numbers of the users."""
        frames, measure = self.frames(place.algorithm), parse_measure(place.metric, protocol, metrics())
        of_pairs = measure.metric.name in ("mae", "mse", "rmse") and measure.variants.get("average") == "ratings"
        if of_pairs and not place.user:
            errors = predictions_of(place.metric, frames, protocol).errors
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
            if there.protocol.hash != setting.protocol.hash and self._gives(cell, there.protocol):
                found[", ".join(f"{key} = {value}" for key, value in other.place.changes)] = None
        return [f"it is what {settings} gives" for settings in found if settings]


def _of_errors(name: str, errors: Sequence[float], value: float) -> str:
    """MAE, MSE and RMSE spelt out."""
    listed = ", ".join(f"{error:g}" for error in errors)
    parts = [f"{abs(error):g}" if name == "mae" else f"{error * error:g}" for error in errors]
    mean = f"({' + '.join(parts)}) / {len(parts)}"
    formula = f"the root of {mean}" if name == "rmse" else mean
    return f"the errors that count are {listed}: {name} is {formula} = {value:.6g}"


def _matters(decision: str, frames: Frames) -> bool:
    """Whether a decision can matter for lists that are given: candidates and folds cannot, nor rules for what is not
    there."""
    family = decision.partition(".")[0]
    missing = bool(np.isnan(frames.scores).any()) or frames.state is not None
    if family in ("candidates", "data", "split") or decision == "average.folds":
        return False
    if family == "missing":
        return missing
    if family == "ties":
        together = pd.DataFrame({"user": frames.users, "score": frames.scores})
        return missing or bool(together.duplicated().any())
    return True
